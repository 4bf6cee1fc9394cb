//! Foreign text made harmless: what a model, a tool, a file, a file name or a server says is passed through here before it reaches a
//! terminal. Front ends call these functions on all they show. Below them only what makes a sentence for people or the model does
//! (a question, a refusal, a command's output), and passes through what it quotes; files, arguments and messages stay as they were.
//!
//! ```text
//! input                      plain            visible
//! \x1b[31mred\x1b[0m         red              \x1b[31mred\x1b[0m    (as printable characters)
//! \x1b]0;title\x07text       text             \x1b]0;title\x07text
//! 10 %\r100 %                100 %            10 %\r100 %
//! rm \u{202e}gpj.exe         rm \u{202e}gpj.exe, the control as printable characters in both
//! a\r\nb                     a⏎b              a\r⏎b
//! ```
//!
//! Dropped by [`plain`]: escape sequences of every kind (ECMA-48 8.3 and 5.6), in 7-bit form and as C1 characters, complete or not;
//! the other controls but line feed and tab; what a carriage return overwrites. A control string (OSC, DCS, APC, PM, SOS) that is not
//! ended goes no further than its line, so that it cannot hide what follows. Shown by it: characters that change the order of others
//! (bidi controls) and tag characters, which carry text nobody sees. [`visible`] is for text whose every byte matters (commands,
//! paths, diffs): nothing is dropped, everything that is not seen is shown.
//!
//! Invariant: the result of every function but [`clip`] has no control characters but line feed and tab ([`line`] and [`visible`]: no
//! tab; [`line`]: no line feed), no bidi controls and no tag characters.
//! Invariant: each function is a function of its text alone, linear in it, and gives ordinary text back without a copy.

use std::borrow::Cow;
use std::fmt::Write;

/// For display over several lines: escape sequences dropped, controls removed, `\r\n` to `\n`, only the text after a line's
/// last lone `\r`, bidi and tag characters visible.
pub fn plain(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| matches!(c, '\n' | '\t') || !is_control(c) && !is_reordering(c);
    match first_not(text, harmless) {
        None => Cow::Borrowed(text),
        Some(from) => Cow::Owned(Plain::new(&text[..from]).run(&text[from..])),
    }
}

/// For one line: as `plain`, and line ends and tabs become spaces.
pub fn line(text: &str) -> Cow<'_, str> {
    let parts = |c: char| matches!(c, '\n' | '\t' | '\u{2028}' | '\u{2029}');
    let text = plain(text);
    if text.contains(parts) {
        Cow::Owned(text.replace(parts, " "))
    } else {
        text
    }
}

/// Where deletion would mislead (commands, paths, diffs): every control, bidi, zero-width and tag character as `\x1b`, `\u{202e}`.
/// Line feeds stay; tabs as `\t`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let seen = |c: char| c == '\n' || !is_control(c) && !is_reordering(c) && !is_invisible(c);
    let Some(from) = first_not(text, seen) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..from]);
    for c in text[from..].chars() {
        if seen(c) {
            out.push(c);
        } else {
            show(c, &mut out);
        }
    }
    Cow::Owned(out)
}

/// As `visible`, and line feeds as `\n`: for one line that must lose nothing.
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// What no terminal should get, in whatever form: controls, line ends and tabs too, and what changes the order of other characters.
pub fn is_harmful(c: char) -> bool {
    is_control(c) || is_reordering(c)
}

/// At most `chars` characters, ending in `…` when cut.
pub fn clip(text: &str, chars: usize) -> Cow<'_, str> {
    if text.len() <= chars || text.chars().nth(chars).is_none() {
        return Cow::Borrowed(text);
    }
    let Some(kept) = chars.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let end = text.char_indices().nth(kept).map_or(text.len(), |(i, _)| i);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// C0, DEL and C1.
fn is_control(c: char) -> bool {
    c.is_control()
}

/// Bidi controls (Unicode property `Bidi_Control`) and tag characters.
fn is_reordering(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Characters that take no room, or look like nothing: joiners, selectors, fillers, separators (Unicode property
/// `Default_Ignorable_Code_Point` without unassigned ones, and the line and paragraph separators).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}'
        | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0100}'..='\u{e01ef}')
}

/// As Rust source spells it: `\t`, `\r`, `\x1b`, `\u{202e}`.
fn show(c: char, out: &mut String) {
    match c {
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\0'..='\x7f' => push_hex(out, format_args!("\\x{:02x}", u32::from(c))),
        _ => push_hex(out, format_args!("\\u{{{:x}}}", u32::from(c))),
    }
}

fn push_hex(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A String takes everything, so there is no error to report.
    let _ = out.write_fmt(text);
}

/// The offset of the first character that is not `fine`. Printable ASCII is fine for every caller and is passed over in blocks.
fn first_not(text: &str, fine: impl Fn(char) -> bool) -> Option<usize> {
    let mut from = 0;
    for block in text.as_bytes().chunks_exact(32) {
        // No early exit: the compiler makes vector code of a loop that always runs to its end.
        let printable = |ok, &byte: &u8| ok & (0x20..0x7f).contains(&byte);
        if !block.iter().fold(true, printable) {
            break;
        }
        from += block.len();
    }
    let found = text[from..].char_indices().find(|&(_, c)| !fine(c));
    found.map(|(index, _)| from + index)
}

/// Where [`plain`] stands: in text or in which part of an escape sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After ESC.
    Escape,
    /// After ESC and intermediates (0x20 to 0x2f), as in `ESC ( B`: up to a final byte 0x30 to 0x7e.
    Intermediate,
    /// After `ESC [`: parameters and intermediates, up to a final byte 0x40 to 0x7e.
    Csi,
    /// In an OSC, DCS, APC, PM or SOS: up to BEL or the string terminator.
    Str,
    /// After an ESC in a control string: `\` makes it the terminator.
    StrEscape,
}

struct Plain {
    out: String,
    /// Where the current line begins in `out`.
    line_start: usize,
    /// Whether a carriage return waits for something to overwrite the line with. One before a line feed, or at the end, overwrites
    /// nothing.
    returned: bool,
    state: State,
}

impl Plain {
    /// Begins after `head`, which is harmless.
    fn new(head: &str) -> Plain {
        Plain {
            out: head.to_owned(),
            line_start: head.rfind('\n').map_or(0, |i| i + 1),
            returned: false,
            state: State::Text,
        }
    }

    fn run(mut self, text: &str) -> String {
        self.out.reserve(text.len());
        for c in text.chars() {
            self.state = self.step(c);
        }
        self.out
    }

    fn step(&mut self, c: char) -> State {
        match (self.state, c) {
            // Line ends leave every sequence: see the module's second rule.
            (_, '\n') => self.text(c),
            (State::StrEscape, '\\') => State::Text,
            (State::StrEscape, _) => {
                // Another ESC than the terminator's begins a sequence of its own.
                self.state = State::Escape;
                self.step(c)
            }
            (_, '\x1b') if self.state == State::Str => State::StrEscape,
            (_, '\x1b') => State::Escape,
            // CAN and SUB cancel a sequence.
            (_, '\x18' | '\x1a') => State::Text,
            (State::Str, '\x07' | '\u{9c}') => State::Text,
            (State::Str, _) => State::Str,
            (State::Csi, '\x20'..='\x3f') => State::Csi,
            (State::Csi, '\x40'..='\x7e') => State::Text,
            (State::Escape | State::Intermediate, '\x20'..='\x2f') => State::Intermediate,
            (State::Intermediate, '\x30'..='\x7e') => State::Text,
            (State::Escape, '[') => State::Csi,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Str,
            (State::Escape, '\x30'..='\x7e') => State::Text,
            // Whatever else comes aborts the sequence and is text.
            (State::Text | State::Escape | State::Intermediate | State::Csi, _) => self.text(c),
        }
    }

    fn text(&mut self, c: char) -> State {
        match c {
            '\n' => {
                self.returned = false;
                self.out.push(c);
                self.line_start = self.out.len();
            }
            '\r' => self.returned = true,
            '\u{9b}' => return State::Csi,
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return State::Str,
            c if is_control(c) && c != '\t' => {}
            c => {
                if self.returned {
                    self.out.truncate(self.line_start);
                    self.returned = false;
                }
                if is_reordering(c) {
                    show(c, &mut self.out);
                } else {
                    self.out.push(c);
                }
            }
        }
        State::Text
    }
}
