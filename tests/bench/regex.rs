//! Regular expressions over a buffer in memory, against counting its line feeds with std; and patterns that are made to be slow.

use crate::measure::{Case, Effort, Seeded, compare};
use std::io::{self, Write};
use zcoder::regex::{Cache, Options, Regex, resume};

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    // So much text makes few passes enough.
    let (bytes, effort) = match effort {
        Effort::Smoke => (effort.corpus_bytes(), effort),
        Effort::Long | Effort::Full => (100_000_000, Effort::Long),
    };
    let title = "regex: source code, all matches, lines";
    let text = source(bytes);
    rates(out, effort, title, &text, SOURCE)?;
    let title = "regex: source code, a match every few bytes";
    rates(out, effort, title, &text[..bytes / 10], DENSE)?;
    let title = "regex: words of another script, all matches, lines";
    rates(out, effort, title, &cyrillic(bytes / 10), CYRILLIC)?;
    let title = "regex: patterns made to be slow";
    rates(out, effort, title, &evil(bytes / 5000), EVIL)?;
    let title = "regex: the same over ten times the text";
    rates(out, effort, title, &evil(bytes / 500), EVIL)
}

/// What is searched for, and its pattern.
type Pattern = (&'static str, &'static str);

const SOURCE: &[Pattern] = &[
    ("literal, absent", "usb_gadget_ops"),
    ("literal, frequent", "return"),
    ("literal, any case", "(?i)usb_gadget_ops"),
    (
        "alternation of words",
        "usb_gadget|spin_unlock|kmalloc_node|mutex_init|printk_once",
    ),
    ("word in the middle", r"[a-z_]+_initcall\(void\)"),
    ("begin with a word", r"struct\s+\w+_ops\b"),
    ("dates", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("classes only", r"[A-Z][a-z]+[0-9]+[A-Z_]+[a-z]+[0-9]{3}"),
    ("classes only, Unicode", r"\w+\s+\w+\s+\w+\d{4}\s"),
];

const DENSE: &[Pattern] = &[("every word", r"\w+"), ("every line", "^.*$")];

const CYRILLIC: &[Pattern] = &[
    ("literal", "привет"),
    ("literal, any case", "(?i)привет"),
    ("word between boundaries", r"\bмир\b"),
    ("classes only", r"[а-я]+\s+[а-я]+\d{3}"),
    ("every word", r"\w+"),
];

const EVIL: &[Pattern] = &[
    ("(a*)*b", "(a*)*b"),
    ("(a|a)*$", "(?-m)(a|a)*c$"),
    ("a?{30}a{30}b", "a{0,30}a{30}b"),
    ("(a+)+b", "(a+)+b"),
    ("(.*)(.*)(.*)(.*)b", "(.*)(.*)(.*)(.*)b"),
    ("[ax]*a[ax]{12}b", "[ax]*a[ax]{12}b"),
    ("(?:[ax]{1,30}){1,30}b", "(?:[ax]{1,30}){1,30}b"),
];

fn rates(
    out: &mut dyn Write,
    effort: Effort,
    title: &str,
    text: &[u8],
    patterns: &[Pattern],
) -> io::Result<()> {
    let mut cases = vec![Case::new("line feeds counted with std", || {
        text.iter().filter(|b| **b == b'\n').count()
    })];
    for (name, pattern) in patterns {
        let options = Options {
            lines: true,
            ..Options::default()
        };
        let regex = Regex::new(pattern, options).map_err(io::Error::other)?;
        let mut cache = Cache::default();
        cases.push(Case::new(name, move || matches(&regex, &mut cache, text)));
    }
    compare(out, effort, title, text.len(), &mut cases)
}

fn matches(regex: &Regex, cache: &mut Cache, text: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(found) = regex.find_at(cache, text, at) {
        count += 1;
        at = resume(text, &found);
    }
    count
}

/// Lines as in a driver.
fn source(bytes: usize) -> Vec<u8> {
    let mut seeded = Seeded::new(11);
    let mut text = Vec::with_capacity(bytes + 200);
    let names = [
        "device",
        "dev",
        "ctx",
        "buffer",
        "len",
        "i",
        "ret",
        "flags",
        "state",
        "info",
        "priv_data",
        "queue_index",
    ];
    let calls = [
        "spin_lock",
        "kmalloc",
        "dev_err",
        "readl",
        "writel",
        "mutex_lock",
        "memset",
        "min_t",
        "usb_submit_urb",
    ];
    while text.len() < bytes {
        text.resize(text.len() + 1 + seeded.below(3), b'\t');
        let (a, b) = (seeded.pick(&names), seeded.pick(&names));
        let call = seeded.pick(&calls);
        let line = match seeded.below(9) {
            0 => format!("if ({a}->{b} < 0x{:04x})\n", seeded.below(65536)),
            1 => format!("return {call}({a}, {b});\n"),
            2 => format!("struct {a}_{b} *{b} = {call}(sizeof(*{b}), GFP_KERNEL);\n"),
            3 => format!(
                "/* The {a} is only valid while the {b} of the Port{} is held. */\n",
                seeded.below(9)
            ),
            4 => format!("{call}(&{a}->lock);\n"),
            5 => format!("for ({a} = 0; {a} < {}; {a}++)\n", seeded.below(1000)),
            6 => format!(
                "#define {}_{} {}\n",
                a.to_uppercase(),
                b.to_uppercase(),
                seeded.below(99999)
            ),
            7 => "}\n\n".to_owned(),
            _ => format!(
                "{a}->{b} = {call}({a}->regs + {}) & ~{};\n",
                seeded.below(4096),
                seeded.below(256)
            ),
        };
        text.extend_from_slice(line.as_bytes());
    }
    text
}

fn cyrillic(bytes: usize) -> Vec<u8> {
    let mut seeded = Seeded::new(12);
    let words = [
        "мир",
        "дом",
        "письмо",
        "который",
        "было",
        "человек",
        "время",
        "и",
        "не",
        "дело",
    ];
    let mut text = Vec::with_capacity(bytes + 200);
    while text.len() < bytes {
        text.extend_from_slice(seeded.pick(&words).as_bytes());
        text.push(if seeded.below(9) == 0 { b'\n' } else { b' ' });
    }
    text
}

/// Long lines of two letters.
fn evil(bytes: usize) -> Vec<u8> {
    let mut seeded = Seeded::new(13);
    let line = |_| {
        if seeded.below(3000) == 0 {
            b'\n'
        } else {
            b"aaax"[seeded.below(4)]
        }
    };
    (0..bytes).map(line).collect()
}
