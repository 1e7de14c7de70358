//! The way through an event and all that it is made of.

use super::Event;

/// An event, then all events inside it, each before those inside it.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    next: Option<&'a Event>,
    later: Vec<&'a Event>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = &'a Event;

    fn next(&mut self) -> Option<&'a Event> {
        let event = self.next?;
        self.next = match event.children() {
            [] => self.later.pop(),
            [first, rest @ ..] => {
                self.later.extend(rest.iter().rev());
                Some(first)
            }
        };
        Some(event)
    }
}

impl Event {
    /// It, and all events inside it at any depth.
    pub fn walk(&self) -> Walk<'_> {
        Walk { next: Some(self), later: Vec::new() }
    }
}
