"""`accp aacp`: the group and its commands."""
