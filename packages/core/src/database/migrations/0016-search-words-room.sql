-- Counts of words change with every replacement of an index. With room on its page a row stays where it is, and its two
-- large indexes need not be told.
ALTER TABLE search_words SET (fillfactor = 50);
