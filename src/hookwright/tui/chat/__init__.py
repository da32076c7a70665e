"""The chat without its widgets: sessions, prompts, dialogs and slash commands. Nothing here imports Textual."""
