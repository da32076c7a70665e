"""The commands about other agents: what hooks they have, and what each agent does with them."""
