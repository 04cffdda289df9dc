-- Every word of an index begins with a mark of its account, the last six characters of the account's key: so a word, and
-- the beginning of one, leads to entries of that account alone (packages/core/src/search/word-mark.ts).
DROP INDEX search_entries_document;
UPDATE search_entries e
   SET document = (
     SELECT coalesce(string_agg(
              '''' || replace(replace(right(e.account_key, 6) || word.lexeme, '\', '\\'), '''', '''''') || ''':'
              || (SELECT string_agg(place.position || place.weight, ',')
                    FROM unnest(word.positions, word.weights) AS place (position, weight)), ' '), '')::tsvector
       FROM unnest(e.document) AS word);
-- What was just written waits in a list that every search reads as well: a short one.
CREATE INDEX search_entries_document ON search_entries USING gin (account_key, document) WITH (gin_pending_list_limit = 512);
