//! A parsed document: one flat list of nodes over one copy of the text, read through [`Value`], a cursor that can be copied.
//!
//! ```text
//! text   {"a":[1,"x\n"],"b":null}
//! nodes  0 object  6 nodes
//!        1 string  a            text 2..3
//!        2 array   3 nodes
//!        3 number  1            text 6..7
//!        4 string  x⏎           decoded 0..2    (had an escape)
//!        5 string  b            text 15..16
//!        6 null
//! ```
//!
//! A node is 8 bytes and stands where its value begins; a container says how many nodes it takes, so the next sibling is one addition
//! away. Building a tree allocates three times at most, whatever the number of values: nodes, text, and the strings that had escapes.
//!
//! Limits: a value of at most [`MAX_TREE_BYTES`], [`super::MAX_DEPTH`] levels. Numbers keep their text and have no limit.
//!
//! Invariant: what a tree says about its text is what [`Tokens`] said about it; there is no second grammar.
//! Invariant: order and duplicates of members are kept; [`Value::get`] answers with the last one of a name.
//! Invariant: a tree is as good as a string: it holds no bytes that are not UTF-8.
//!
//! Read next: `field.rs` for access whose errors name the path, `write.rs` for writing.

use super::text::decode;
use super::token::{Failed, Lexeme, Tokens};
use super::{Cause, Error, Kind, MAX_TREE_BYTES, Number, Token, write};
use crate::sys::simd;
use std::fmt;
use std::ops::Range;

/// An owned JSON value. Equality is of meaning: escapes and blanks do not count, member order and the text of numbers do.
#[derive(Clone)]
pub struct Tree {
    /// The value as it was written, repaired where it was not UTF-8.
    text: String,
    /// The strings that had escapes, one after the other, without them.
    decoded: String,
    nodes: Vec<Node>,
}

/// One value or member name.
#[derive(Clone, Copy)]
struct Node {
    /// First byte in `text` or `decoded`; unused in others than strings and numbers.
    start: u32,
    /// The kind in the upper 4 bits; below it the bytes of a string or number, or the nodes of an array or object.
    kind_and_length: u32,
}

/// A node's kind. A string stands in `Tree::text`, a decoded one in `Tree::decoded`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum NodeKind {
    Object,
    Array,
    String,
    DecodedString,
    Number,
    True,
    False,
    Null,
}

impl Node {
    const LENGTH_BITS: u32 = 28;

    fn new(kind: NodeKind, range: Range<usize>) -> Node {
        // `Tree::read` refuses texts in which these would not fit.
        let length = (range.end - range.start) as u32;
        Node {
            start: range.start as u32,
            kind_and_length: (kind as u32) << Node::LENGTH_BITS | length,
        }
    }

    fn kind(self) -> NodeKind {
        match self.kind_and_length >> Node::LENGTH_BITS {
            0 => NodeKind::Object,
            1 => NodeKind::Array,
            2 => NodeKind::String,
            3 => NodeKind::DecodedString,
            4 => NodeKind::Number,
            5 => NodeKind::True,
            6 => NodeKind::False,
            _ => NodeKind::Null,
        }
    }

    fn length(self) -> usize {
        (self.kind_and_length & ((1 << Node::LENGTH_BITS) - 1)) as usize
    }

    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length()
    }

    /// The nodes it takes, itself included.
    fn nodes(self) -> usize {
        match self.kind() {
            NodeKind::Object | NodeKind::Array => self.length(),
            NodeKind::String
            | NodeKind::DecodedString
            | NodeKind::Number
            | NodeKind::True
            | NodeKind::False
            | NodeKind::Null => 1,
        }
    }
}

impl Tree {
    /// Parses one JSON text. Bad UTF-8 inside strings is repaired to U+FFFD.
    pub fn parse(bytes: &[u8]) -> Result<Tree, Error> {
        let mut tokens = Tokens::new(bytes);
        let tree = tokens.tree()?;
        match tokens.next()? {
            Token::End => Ok(tree),
            _ => unreachable!("after a text's value the tokenizer knows `End` and errors"),
        }
    }

    /// As `parse`, but bad UTF-8 is an error (configuration, JSON-RPC).
    pub fn parse_strict(bytes: &[u8]) -> Result<Tree, Error> {
        let tree = Tree::parse(bytes)?;
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(tree),
            Err(e) => Err(Error {
                cause: Cause::InvalidUtf8,
                found: bytes.get(e.valid_up_to()).copied(),
                offset: e.valid_up_to(),
            }),
        }
    }

    /// `{}`.
    pub fn empty_object() -> Tree {
        Tree {
            text: String::new(),
            decoded: String::new(),
            nodes: vec![Node::new(NodeKind::Object, 0..1)],
        }
    }

    /// The value.
    pub fn root(&self) -> Value<'_> {
        Value {
            tree: self,
            index: 0,
        }
    }

    /// The next value of `tokens`, whole.
    pub(super) fn read(tokens: &mut Tokens<'_>) -> Result<Tree, Error> {
        Tree::build(tokens).map_err(|Failed| tokens.error())
    }

    fn build(tokens: &mut Tokens<'_>) -> Result<Tree, Failed> {
        tokens.expect_value()?;
        let mut building = Building::new(tokens);
        loop {
            let mut lexeme = tokens.step()?;
            if let Lexeme::Key | Lexeme::EscapedKey = lexeme {
                building.add(lexeme, tokens)?;
                // Half of the steps are known in advance.
                lexeme = tokens.member_value()?;
            }
            if building.add(lexeme, tokens)? {
                break;
            }
        }
        let Building { origin, .. } = building;
        let text = &tokens.bytes()[origin..tokens.offset()];
        let tree = Tree::assemble(text, building.decoded, building.nodes);
        tree.ok_or_else(|| tokens.fail(Cause::TooLong, origin))
    }

    /// `None` if repairing makes a string too long.
    fn assemble(text: &[u8], decoded: Vec<u8>, mut nodes: Vec<Node>) -> Option<Tree> {
        let decoded = match simd::into_utf8(decoded) {
            Ok(decoded) => decoded,
            Err(decoded) => return Tree::repaired(text, &decoded, nodes),
        };
        let Some(text) = simd::utf8(text) else {
            return Tree::repaired(text, decoded.as_bytes(), nodes);
        };
        if nodes.capacity() > nodes.len() + 64 {
            nodes.shrink_to_fit();
        }
        Some(Tree {
            text: text.to_owned(),
            decoded,
            nodes,
        })
    }

    /// The tree of a text with strings that are not UTF-8: each gets its repaired form, one after the other.
    #[cold]
    fn repaired(text: &[u8], decoded: &[u8], mut nodes: Vec<Node>) -> Option<Tree> {
        let mut repaired = String::with_capacity(text.len());
        for node in &mut nodes {
            let (kind, raw) = match node.kind() {
                NodeKind::String => (NodeKind::String, &text[node.range()]),
                NodeKind::DecodedString => (NodeKind::String, &decoded[node.range()]),
                NodeKind::Number => (NodeKind::Number, &text[node.range()]),
                NodeKind::Object
                | NodeKind::Array
                | NodeKind::True
                | NodeKind::False
                | NodeKind::Null => continue,
            };
            let start = repaired.len();
            repaired.push_str(&String::from_utf8_lossy(raw));
            if repaired.len() - start > MAX_TREE_BYTES {
                return None;
            }
            *node = Node::new(kind, start..repaired.len());
        }
        Some(Tree {
            text: repaired,
            decoded: String::new(),
            nodes,
        })
    }

    fn text_of(&self, node: Node) -> Option<&str> {
        match node.kind() {
            NodeKind::String | NodeKind::Number => Some(&self.text[node.range()]),
            NodeKind::DecodedString => Some(&self.decoded[node.range()]),
            NodeKind::Object
            | NodeKind::Array
            | NodeKind::True
            | NodeKind::False
            | NodeKind::Null => None,
        }
    }
}

/// A tree under way.
struct Building {
    nodes: Vec<Node>,
    decoded: Vec<u8>,
    /// The value begins here, or behind a comma: what is kept of the text includes that then, so that offsets are known at once.
    origin: usize,
    /// The innermost open array or object. While it is open, `start` of its node is the index of the one around it.
    innermost: usize,
}

impl Building {
    fn new(tokens: &Tokens<'_>) -> Building {
        let origin = tokens.offset();
        Building {
            // Right for texts of ordinary density; a dense one grows once, an indented one gives room back below. A bigger guess is no
            // gain: memory beyond the text's own size goes back to the system with each tree, and every page has to be made anew.
            nodes: Vec::with_capacity((tokens.bytes().len() - origin) / 16 + 16),
            decoded: Vec::new(),
            origin,
            innermost: 0,
        }
    }

    /// Adds what `tokens` just read; whether the root is complete with it.
    #[inline(always)]
    fn add(&mut self, lexeme: Lexeme, tokens: &mut Tokens<'_>) -> Result<bool, Failed> {
        let place = tokens.place();
        let range = place.start - self.origin..place.end - self.origin;
        if range.end > MAX_TREE_BYTES {
            return Err(tokens.fail(Cause::TooLong, self.origin));
        }
        let node = match lexeme {
            Lexeme::BeginObject => return Ok(self.open(NodeKind::Object)),
            Lexeme::BeginArray => return Ok(self.open(NodeKind::Array)),
            Lexeme::EndObject | Lexeme::EndArray => return Ok(self.close()),
            Lexeme::Key | Lexeme::String => Node::new(NodeKind::String, range),
            Lexeme::EscapedKey | Lexeme::EscapedString => {
                let start = self.decoded.len();
                decode(&tokens.bytes()[place], &mut self.decoded);
                Node::new(NodeKind::DecodedString, start..self.decoded.len())
            }
            Lexeme::Number => Node::new(NodeKind::Number, range),
            Lexeme::True => Node::new(NodeKind::True, 0..0),
            Lexeme::False => Node::new(NodeKind::False, 0..0),
            Lexeme::Null => Node::new(NodeKind::Null, 0..0),
            Lexeme::End => unreachable!("a value was due"),
        };
        self.nodes.push(node);
        Ok(self.nodes.len() == 1) // a scalar at the root
    }

    #[inline(always)]
    fn open(&mut self, kind: NodeKind) -> bool {
        let around = self.innermost;
        self.innermost = self.nodes.len();
        self.nodes.push(Node::new(kind, around..around));
        false
    }

    #[inline(always)]
    fn close(&mut self) -> bool {
        let begun = self.nodes[self.innermost];
        let length = self.nodes.len() - self.innermost;
        self.nodes[self.innermost] = Node::new(begun.kind(), 0..length);
        let is_root = self.innermost == 0;
        self.innermost = begun.start as usize;
        is_root
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        self.root() == other.root()
    }
}

impl Eq for Tree {}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.root(), f)
    }
}

/// Displays as compact JSON.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.root(), f)
    }
}

/// A place in a tree.
#[derive(Clone, Copy)]
pub struct Value<'t> {
    tree: &'t Tree,
    index: usize,
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.subtree(), other.subtree());
        // Nodes stand in document order, so equal values have node lists that are equal place by place.
        ours.len() == theirs.len()
            && ours.iter().zip(theirs).all(|(&a, &b)| {
                same_kind(a.kind(), b.kind())
                    && a.nodes() == b.nodes()
                    && self.tree.text_of(a) == other.tree.text_of(b)
            })
    }
}

fn same_kind(a: NodeKind, b: NodeKind) -> bool {
    let is_string = |kind| matches!(kind, NodeKind::String | NodeKind::DecodedString);
    a == b || is_string(a) && is_string(b)
}

impl Eq for Value<'_> {}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Displays as compact JSON.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl<'t> Value<'t> {
    /// What it is.
    pub fn kind(self) -> Kind {
        match self.node().kind() {
            NodeKind::Object => Kind::Object,
            NodeKind::Array => Kind::Array,
            NodeKind::String | NodeKind::DecodedString => Kind::String,
            NodeKind::Number => Kind::Number,
            NodeKind::True | NodeKind::False => Kind::Bool,
            NodeKind::Null => Kind::Null,
        }
    }

    /// The string.
    pub fn as_str(self) -> Option<&'t str> {
        match self.kind() {
            Kind::String => self.tree.text_of(self.node()),
            Kind::Object | Kind::Array | Kind::Number | Kind::Bool | Kind::Null => None,
        }
    }

    /// The number.
    pub fn as_number(self) -> Option<Number<'t>> {
        match self.kind() {
            Kind::Number => self.tree.text_of(self.node()).map(|text| Number { text }),
            Kind::Object | Kind::Array | Kind::String | Kind::Bool | Kind::Null => None,
        }
    }

    /// The boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.node().kind() {
            NodeKind::True => Some(true),
            NodeKind::False => Some(false),
            NodeKind::Object
            | NodeKind::Array
            | NodeKind::String
            | NodeKind::DecodedString
            | NodeKind::Number
            | NodeKind::Null => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.node().kind() == NodeKind::Null
    }

    /// The last member of this name (RFC 8259 4: ours is "last wins").
    pub fn get(self, key: &str) -> Option<Value<'t>> {
        let mut found = None;
        let mut children = self.children(Kind::Object);
        while let (Some(name), Some(value)) = (children.next(), children.next()) {
            // Most differ in length, which costs nothing to see.
            if name.node().length() == key.len() && name.as_str() == Some(key) {
                found = Some(value);
            }
        }
        found
    }

    /// Array items; empty for anything else.
    pub fn items(self) -> Items<'t> {
        Items {
            rest: self.children(Kind::Array),
        }
    }

    /// Object members in order, duplicates included; empty for anything else.
    pub fn members(self) -> Members<'t> {
        Members {
            rest: self.children(Kind::Object),
        }
    }

    /// A tree of its own, as small as its content.
    pub fn to_tree(self) -> Tree {
        let nodes = self.subtree();
        let mut copy = Tree {
            text: String::new(),
            decoded: String::new(),
            nodes: Vec::with_capacity(nodes.len()),
        };
        for &node in nodes {
            let mut node = node;
            if let Some(text) = self.tree.text_of(node) {
                let kind = match node.kind() {
                    NodeKind::DecodedString => NodeKind::String,
                    kind => kind,
                };
                let start = copy.text.len();
                copy.text.push_str(text);
                node = Node::new(kind, start..copy.text.len());
            }
            copy.nodes.push(node);
        }
        copy
    }

    /// Compact JSON appended to `out`.
    pub fn write(self, out: &mut Vec<u8>) {
        match self.node().kind() {
            NodeKind::Object => {
                out.push(b'{');
                for (index, (name, value)) in self.members().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write::quote_str(out, name);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
            NodeKind::Array => {
                out.push(b'[');
                for (index, value) in self.items().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    value.write(out);
                }
                out.push(b']');
            }
            NodeKind::String | NodeKind::DecodedString => {
                write::quote_str(out, self.as_str().unwrap_or_default());
            }
            NodeKind::Number => {
                let text = self.tree.text_of(self.node()).unwrap_or_default();
                out.extend_from_slice(text.as_bytes());
            }
            NodeKind::True => out.extend_from_slice(b"true"),
            NodeKind::False => out.extend_from_slice(b"false"),
            NodeKind::Null => out.extend_from_slice(b"null"),
        }
    }

    /// Whether `inner`, a value of the same tree, is this one or stands somewhere in it.
    pub(super) fn holds(self, inner: Value<'_>) -> bool {
        (self.index..self.index + self.node().nodes()).contains(&inner.index)
    }

    fn node(self) -> Node {
        self.tree.nodes[self.index]
    }

    /// Its nodes, itself first.
    fn subtree(self) -> &'t [Node] {
        &self.tree.nodes[self.index..self.index + self.node().nodes()]
    }

    /// What lies inside an array or object of this kind.
    fn children(self, kind: Kind) -> Children<'t> {
        let end = if self.kind() == kind {
            self.index + self.node().nodes()
        } else {
            self.index + 1
        };
        Children {
            tree: self.tree,
            next: self.index + 1,
            end,
        }
    }
}

/// Sibling after sibling.
#[derive(Clone)]
struct Children<'t> {
    tree: &'t Tree,
    next: usize,
    end: usize,
}

impl<'t> Children<'t> {
    fn next(&mut self) -> Option<Value<'t>> {
        if self.next >= self.end {
            return None;
        }
        let value = Value {
            tree: self.tree,
            index: self.next,
        };
        self.next += value.node().nodes();
        Some(value)
    }
}

/// Iterates over an array.
#[derive(Clone)]
pub struct Items<'t> {
    rest: Children<'t>,
}

impl<'t> Iterator for Items<'t> {
    type Item = Value<'t>;

    fn next(&mut self) -> Option<Value<'t>> {
        self.rest.next()
    }
}

/// Iterates over an object.
#[derive(Clone)]
pub struct Members<'t> {
    rest: Children<'t>,
}

impl<'t> Iterator for Members<'t> {
    type Item = (&'t str, Value<'t>);

    fn next(&mut self) -> Option<(&'t str, Value<'t>)> {
        let name = self.rest.next()?.as_str()?;
        Some((name, self.rest.next()?))
    }
}
