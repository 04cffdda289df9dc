//! Reads text/event-stream (HTML, "Interpreting an event stream").

#[derive(Debug, Default, PartialEq)]
pub(crate) struct TextEvent {
    /// Empty for an event without a name.
    pub(crate) event: String,
    pub(crate) data: String,
    pub(crate) id: Option<String>,
}

/// Reads pieces of the text, however it was cut.
#[derive(Default)]
pub(crate) struct EventParser {
    line: Vec<u8>,
    /// A line feed after it belongs to it.
    after_return: bool,
    event: TextEvent,
    id: Option<String>,
}

impl EventParser {
    /// The events that this piece completes, also those without data.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Vec<TextEvent> {
        let mut found = Vec::new();
        for &byte in piece {
            let continues = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if continues => {}
                b'\r' | b'\n' => found.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        found
    }

    fn end_line(&mut self) -> Option<TextEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let mut event = std::mem::take(&mut self.event);
            event.id = self.id.clone();
            let is_empty = event.data.is_empty() && event.id.is_none();
            event.data.pop();
            return (!is_empty).then_some(event);
        }
        let line = String::from_utf8_lossy(&line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => self.event.event = value.to_owned(),
            "data" => self.event.data.extend([value, "\n"]),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event: &str, data: &str, id: Option<&str>) -> TextEvent {
        TextEvent {
            event: event.to_owned(),
            data: data.to_owned(),
            id: id.map(str::to_owned),
        }
    }

    #[test]
    fn events_are_the_same_however_the_text_is_cut() {
        let text = "id: 1\n\n: a comment\nevent: notification\r\ndata: {\"a\":\r\ndata: 1}\r\nid:2\r\n\r\ndata:é\r\r";
        let whole = EventParser::default().read(text.as_bytes());
        assert_eq!(
            whole,
            [
                event("", "", Some("1")),
                event("notification", "{\"a\":\n1}", Some("2")),
                event("", "é", Some("2"))
            ]
        );
        for cut in 0..text.len() {
            let mut parser = EventParser::default();
            let (head, tail) = text.as_bytes().split_at(cut);
            let mut found = parser.read(head);
            found.extend(parser.read(tail));
            assert_eq!(found, whole, "cut at {cut}");
        }
    }

    #[test]
    fn an_id_with_a_null_is_ignored_and_an_unfinished_event_waits() {
        let mut parser = EventParser::default();
        assert_eq!(parser.read(b"id: a\0b\ndata: x\n"), []);
        assert_eq!(parser.read(b"\n"), [event("", "x", None)]);
    }
}
