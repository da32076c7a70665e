"""What the conversation shows, as plain values and styled lines. Nothing here imports Textual."""
