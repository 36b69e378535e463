"""What the prompts of a replay hold: tokens by kind of content, the texts of the largest messages."""
