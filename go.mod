module hovor

go 1.26
