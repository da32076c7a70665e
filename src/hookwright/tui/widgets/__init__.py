"""The widgets of the terminal app, built with Textual."""
