"""What all HTML pages share: the templates' environment, the security policy, styles, bars and printable texts."""
