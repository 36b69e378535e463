"""`AccpMiddleware` beside other middleware, libraries, threads and processes: what holds whatever stands beside it."""
