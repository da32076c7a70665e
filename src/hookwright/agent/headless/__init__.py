"""`hookwright run`: prompts from arguments or stdin, output as text, JSON or a stream, and the control protocol."""
