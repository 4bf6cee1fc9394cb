//! JSON: records of a stream to their content, documents to trees, values to text.

use crate::measure::{Case, Effort, Seeded, compare};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use zcoder::json::{Error, Tree};
use zcoder::lines::Ndjson;
use zcoder::model::ollama::Record;

/// A broken record or a line that is too long.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Read size of `contents`: it stays in the second-level cache.
const BLOCK_BYTES: usize = 256 << 10;

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let bytes = effort.corpus_bytes();
    records(out, effort, "json: records of a stream", &stream(bytes))?;
    document(
        out,
        effort,
        "json: a document of short strings",
        &messages(bytes),
    )?;
    document(out, effort, "json: an indented document", &catalog(bytes))?;
    document(
        out,
        effort,
        "json: a document of numbers",
        &coordinates(bytes),
    )
}

/// The primitive `json FILE.ndjson`: `.message.content` of every record, one after the other.
pub(crate) fn contents(out: &mut dyn Write, files: &[String]) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    for file in files {
        let mut file = File::open(file)?;
        let mut records = Ndjson::new(16 << 20);
        let mut text = String::new();
        loop {
            let length = file.read(&mut block)?;
            let each = &mut |record: &[u8]| Ok::<(), Failure>(content(record, &mut text)?);
            let fed = match length {
                0 => records.finish(each),
                _ => records.feed(&block[..length], each),
            };
            fed.map_err(io::Error::other)?;
            out.write_all(text.as_bytes())?;
            text.clear();
            if length == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// The primitive `json-rate FILE...`: rates over given files.
pub(crate) fn rates(out: &mut dyn Write, files: &[String]) -> io::Result<()> {
    for file in files {
        let text = std::fs::read(file)?;
        if file.ends_with(".ndjson") {
            records(out, Effort::Full, file, &text)?;
        } else {
            document(out, Effort::Full, file, &text)?;
        }
    }
    Ok(())
}

/// What the model's client does with each record of an answer.
fn content(record: &[u8], out: &mut String) -> Result<(), Error> {
    let record = Record::decode(record)?;
    if let Some(content) = record.content {
        content.push_to(out);
    }
    Ok(())
}

fn records(out: &mut dyn Write, effort: Effort, title: &str, text: &[u8]) -> io::Result<()> {
    let lines: Vec<&[u8]> = text
        .split(|&b| b == b'\n')
        .filter(|l| !l.is_empty())
        .collect();
    for line in &lines {
        content(line, &mut String::new()).map_err(io::Error::other)?;
    }
    let mut copy = vec![0; text.len()];
    let mut contents = String::new();
    let mut file = temporary_file(text)?;
    let mut block = vec![0; BLOCK_BYTES];
    let mut cases = [
        Case::new("from_utf8 over the same bytes", || valid_characters(text)),
        Case::new("copy into a warmed buffer", || copied(text, &mut copy)),
        Case::new("plain read of a file", || bytes_read(&mut file, &mut block)),
        Case::new("record to content", || {
            let mut length = 0;
            for line in &lines {
                contents.clear();
                if content(line, &mut contents).is_ok() {
                    length += contents.len();
                }
            }
            length
        }),
        Case::new("record to tree", || {
            let trees = lines.iter().filter_map(|line| Tree::parse(line).ok());
            trees
                .filter(|tree| tree.root().get("done").is_some())
                .count()
        }),
    ];
    compare(out, effort, title, text.len(), &mut cases)
}

fn document(out: &mut dyn Write, effort: Effort, title: &str, text: &[u8]) -> io::Result<()> {
    let tree = Tree::parse(text).map_err(io::Error::other)?;
    let mut copy = vec![0; text.len()];
    let mut cases = [
        Case::new("from_utf8 over the same bytes", || valid_characters(text)),
        Case::new("copy into a warmed buffer", || copied(text, &mut copy)),
        Case::new("tokens to the end (validation)", || {
            let mut tokens = zcoder::json::Tokens::new(text);
            tokens.skip().is_ok() as usize + tokens.next().is_ok() as usize
        }),
        Case::new("document to tree", || Tree::parse(text).is_ok() as usize),
    ];
    compare(out, effort, title, text.len(), &mut cases)?;
    let mut written = Vec::new();
    tree.root().write(&mut written);
    let compact = written.clone();
    let mut copy = vec![0; compact.len()];
    let mut cases = [
        Case::new("copy into a warmed buffer", || copied(&compact, &mut copy)),
        Case::new("tree to text", || {
            written.clear();
            tree.root().write(&mut written);
            written.len()
        }),
    ];
    let title = format!("{title}, written");
    compare(out, effort, &title, compact.len(), &mut cases)
}

fn valid_characters(text: &[u8]) -> usize {
    std::str::from_utf8(std::hint::black_box(text)).map_or(0, str::len)
}

fn copied(text: &[u8], copy: &mut [u8]) -> usize {
    copy[..text.len()].copy_from_slice(std::hint::black_box(text));
    usize::from(copy[text.len() / 2])
}

fn temporary_file(text: &[u8]) -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("zcoder-bench-{}", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    // It stays readable while it is open, and nothing is left behind however the benchmark ends.
    std::fs::remove_file(&path)?;
    file.write_all(text)?;
    Ok(file)
}

fn bytes_read(file: &mut File, block: &mut [u8]) -> usize {
    let mut sum = 0;
    if file.rewind().is_ok() {
        while let Ok(length @ 1..) = file.read(block) {
            sum += length;
        }
    }
    sum
}

const WORDS: [&str; 20] = [
    " the",
    " function",
    " returns",
    "\\n",
    " `",
    "main",
    "()",
    " if",
    " \\\"key\\\"",
    ":",
    " value",
    ".\\n\\n",
    " naïve",
    " 日本",
    " a",
    " let",
    " =",
    " 42",
    "\\t",
    " 🦀",
];

/// Records as Ollama streams them: a token or a few in each.
fn stream(bytes: usize) -> Vec<u8> {
    let mut random = Seeded::new(1);
    let mut text = String::with_capacity(bytes + 1000);
    while text.len() < bytes {
        let nanoseconds = random.below(1_000_000_000);
        text.push_str("{\"model\":\"qwen3:8b\",\"created_at\":\"2026-08-21T14:02:09.");
        text.push_str(&format!(
            "{nanoseconds:09}Z\",\"message\":{{\"role\":\"assistant\",\"content\":\""
        ));
        for _ in 0..1 + random.below(8) * (random.below(4) / 3) {
            text.push_str(random.pick(&WORDS));
        }
        text.push_str("\"},\"done\":false}\n");
    }
    text.push_str("{\"model\":\"qwen3:8b\",\"created_at\":\"2026-08-21T14:02:10Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":4883583458,\"eval_count\":282}\n");
    text.into_bytes()
}

/// Objects in objects, most of them short strings, some of them not ASCII or with escapes.
fn messages(bytes: usize) -> Vec<u8> {
    let mut random = Seeded::new(2);
    let mut text = String::from("{\"messages\":[");
    while text.len() < bytes {
        let id = 500_000_000_000_000_000 + random.below(1 << 30);
        text.push_str(&format!("{{\"id\":{id},\"id_str\":\"{id}\",\"text\":\""));
        for _ in 0..random.below(25) {
            text.push_str(random.pick(&WORDS));
        }
        text.push_str("\",\"user\":{\"name\":\"");
        text.push_str(random.pick(&["anna", "山田", "O. Núñez", "x_1"]));
        text.push_str(&format!(
            "\",\"url\":\"http:\\/\\/example.org\\/{id:x}\",\"followers\":{},\"verified\":",
            random.below(9000)
        ));
        text.push_str(random.pick(&["true", "false", "null"]));
        text.push_str(",\"colors\":[\"C0DEED\",\"DDEEF6\",\"333333\"]},\"entities\":{\"urls\":[],\"tags\":[{\"text\":\"rust\",\"indices\":[3,8]}]},\"place\":null},");
    }
    text.push_str("{}]}");
    text.into_bytes()
}

/// As programs print for people: deep indents, small values.
fn catalog(bytes: usize) -> Vec<u8> {
    let mut random = Seeded::new(3);
    let mut text = String::from("{\n    \"events\": [");
    while text.len() < bytes {
        text.push_str("\n        {\n            \"id\": ");
        text.push_str(&format!(
            "{},\n            \"seats\": [",
            random.below(1 << 30)
        ));
        for _ in 0..1 + random.below(4) {
            text.push_str(&format!("\n                {{\n                    \"area\": {},\n                    \"block\": [\n                        {}\n                    ]\n                }},", random.below(1 << 28), random.below(1 << 28)));
        }
        text.push_str("\n                null\n            ],\n            \"name\": null,\n            \"logo\": \"/images/UE0AAAAACEKo6QAAAAZDSVRN\"\n        },");
    }
    text.push_str("\n        {}\n    ]\n}\n");
    text.into_bytes()
}

/// Pairs of numbers with many digits.
fn coordinates(bytes: usize) -> Vec<u8> {
    let mut random = Seeded::new(4);
    let mut text = String::from("{\"rings\":[[");
    while text.len() < bytes {
        for _ in 0..200 {
            let (x, y) = (random.below(180), random.below(90));
            let (a, b) = (random.below(1 << 30), random.below(1 << 30));
            text.push_str(&format!("[-{x}.{a:09}00001,{y}.{b:09}99997],"));
        }
        text.push_str("[0,0]],[");
    }
    text.push_str("[1e5,-0.5]]]}");
    text.into_bytes()
}
