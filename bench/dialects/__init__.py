"""Released agents with a scripted model: what each does with an answer of a hook, alone and through the bridge."""
