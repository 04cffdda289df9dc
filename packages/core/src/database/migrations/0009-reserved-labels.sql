-- Labels that keep a node for the backends they are demanded of: no other backend is placed on a node that has one.

CREATE TABLE reserved_labels (label text PRIMARY KEY);
