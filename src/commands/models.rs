//! `zcoder models`: what the server has, as a table or as JSON. Asks `/api/tags` and `/api/ps`, and `/api/show` for each model of
//! which the list does not say what it can do.
//!
//! ```text
//! NAME           SIZE    PARAMETERS  QUANTIZATION  WINDOW  CAN              LOADED
//! qwen3:8b       5.2 GB  8.2B        Q4_K_M        40,960  tools, thinking  yes, window 32,768, 100% GPU
//! llama2:latest  3.8 GB  7B          Q4_0           4,096  -                -
//! ```
//!
//! Invariant: no prompt leaves, nothing is loaded. Invariant: names are the server's text and are made harmless.
//!
//! Read next: `model/choose.rs`, which of these is taken when none is named.

use super::scope::configured;
use crate::config::{Typed, UsageError, settings};
use crate::headless::Output;
use crate::headless::out::{Out, complain, exit, note, with_stdout};
use crate::json::Writer;
use crate::model::{Backend, Card, Error, Loaded, ModelEntry};
use crate::protocol::Tap;
use crate::sys::Cancel;
use crate::text;
use std::io::{self, Write};

/// One line of the table.
struct Row {
    entry: ModelEntry,
    card: Card,
    loaded: Option<Loaded>,
}

/// Lists them.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let (typed, _) = configured(typed)?;
    let server = settings::server(&typed)?;
    let output = settings::output(&typed)?;
    for warning in &server.warnings {
        note(&format!("zcoder: {warning}"));
    }
    let backend = Backend::ollama(&server.options, Tap::default());
    let rows = match rows(&backend) {
        Ok(rows) => rows,
        Err(error) => {
            complain(&error.to_string());
            return Ok(exit::SERVER);
        }
    };
    if rows.is_empty() && output == Output::Text {
        note("no models; get one with: ollama pull qwen3:8b");
        return Ok(exit::DONE);
    }
    Ok(with_stdout(|out| {
        match output {
            Output::Text => table(out, &rows)?,
            Output::Json => json(out, &rows)?,
            Output::JsonLines => {
                for row in &rows {
                    let mut w = Writer::new();
                    object(&mut w, row);
                    out.write_all(&w.finish())?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(exit::DONE)
    }))
}

fn rows(backend: &Backend) -> Result<Vec<Row>, Error> {
    // Never turned: without a handler of ours Ctrl-C ends the process.
    let cancel = Cancel::new().map_err(|source| {
        Error::Http(crate::http::Error::Io {
            doing: "make a pipe",
            source,
        })
    })?;
    let entries = backend.models(&cancel)?;
    let loaded = match backend.loaded(&cancel) {
        Ok(loaded) => loaded,
        // A server that is loading may not answer; the list is worth showing all the same.
        Err(error) => {
            note(&format!("zcoder: what is loaded is not known: {error}"));
            Vec::new()
        }
    };
    let mut rows = Vec::new();
    for entry in entries {
        let card = match &entry.capabilities {
            Some(capabilities) => Card {
                capabilities: Some(capabilities.clone()),
                context_length: entry.context_length,
                ..Card::default()
            },
            // One model that cannot be read must not hide the others.
            None => backend.show(&entry.name, &cancel).unwrap_or_default(),
        };
        let loaded = loaded
            .iter()
            .find(|loaded| loaded.name == entry.name)
            .cloned();
        rows.push(Row {
            entry,
            card,
            loaded,
        });
    }
    Ok(rows)
}

const HEAD: [&str; 7] = [
    "NAME",
    "SIZE",
    "PARAMETERS",
    "QUANTIZATION",
    "WINDOW",
    "CAN",
    "LOADED",
];

fn table(out: &mut Out, rows: &[Row]) -> io::Result<()> {
    let mut lines = vec![HEAD.map(str::to_string)];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    for line in &lines {
        let mut text = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 7] {
    let text = |text: &Option<String>| match text {
        Some(text) if !text.is_empty() => text::line(text).into_owned(),
        _ => "-".to_string(),
    };
    let loaded = match (&row.loaded, row.remote()) {
        (_, Some(host)) => format!("forwarded to {}", text::line(host)),
        (None, None) => "-".to_string(),
        (Some(loaded), None) => {
            let window = loaded
                .context_length
                .map(|n| format!(", window {}", text::grouped(n)));
            let share = (loaded.size_vram.saturating_mul(100)).checked_div(loaded.size);
            let share = share.map(|percent| format!(", {percent}% GPU"));
            let (window, share) = (window.unwrap_or_default(), share.unwrap_or_default());
            format!("yes{window}{share}")
        }
    };
    [
        text::line(&row.entry.name).into_owned(),
        size(row.entry.size),
        text(&row.entry.parameter_size),
        text(&row.entry.quantization),
        row.window().map_or("-".to_string(), text::grouped),
        can(&row.card),
        loaded,
    ]
}

impl Row {
    /// Where it is forwarded to.
    fn remote(&self) -> Option<&str> {
        let (entry, card) = (&self.entry.remote_host, &self.card.remote_host);
        entry.as_deref().or(card.as_deref())
    }

    fn window(&self) -> Option<u64> {
        self.card.context_length.or(self.entry.context_length)
    }
}

/// What matters to an agent, in a fixed order.
fn can(card: &Card) -> String {
    let all = card.capabilities.as_deref().unwrap_or_default();
    let ours = ["tools", "thinking", "vision"];
    let found: Vec<&str> = ours
        .into_iter()
        .filter(|name| all.iter().any(|one| one == name))
        .collect();
    match found.is_empty() {
        true => "-".to_string(),
        false => found.join(", "),
    }
}

/// Decimal units, as Ollama prints them.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "-".to_string(),
        1..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

fn json(out: &mut Out, rows: &[Row]) -> io::Result<()> {
    let mut w = Writer::new();
    w.begin_object().key("models").begin_array();
    for row in rows {
        object(&mut w, row);
    }
    w.end_array().end_object();
    out.write_all(&w.finish())?;
    out.write_all(b"\n")
}

fn object(w: &mut Writer, row: &Row) {
    let (entry, loaded) = (&row.entry, row.loaded.as_ref());
    w.begin_object().key("name").string(&entry.name);
    w.key("size").u64(entry.size);
    string(w, "parameters", entry.parameter_size.as_deref());
    string(w, "quantization", entry.quantization.as_deref());
    number(w, "window", row.window());
    w.key("can").begin_array();
    for one in row.card.capabilities.as_deref().unwrap_or_default() {
        w.string(one);
    }
    w.end_array();
    string(w, "remote_host", row.remote());
    w.key("loaded").bool(loaded.is_some());
    number(
        w,
        "loaded_window",
        loaded.and_then(|loaded| loaded.context_length),
    );
    number(w, "loaded_bytes", loaded.map(|loaded| loaded.size));
    number(w, "loaded_gpu_bytes", loaded.map(|loaded| loaded.size_vram));
    w.end_object();
}

fn string(w: &mut Writer, key: &str, text: Option<&str>) {
    w.key(key);
    match text {
        Some(text) => w.string(text),
        None => w.null(),
    };
}

fn number(w: &mut Writer, key: &str, n: Option<u64>) {
    w.key(key);
    match n {
        Some(n) => w.u64(n),
        None => w.null(),
    };
}
