//! A turn with a long answer: the program itself against a server that sends as fast as it is read. What counts is its memory, which
//! should hold the answer once, and no more of it at any time.
//! Each row is an answer of another length: the time from the first record to the first byte of the printed answer, the peak of the
//! process, and its ratio to the peak with the shortest one.

use crate::measure::{Effort, peak_mib};
use crate::walk::Temp;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// Of the answer, in a record.
const PIECE: &str = "forty bytes that a na\u{ef}ve reader copies ";
/// More than a pipe holds: the program waits in its last write, and its peak can be read.
const SHORT: usize = 70_000 / PIECE.len();

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let counts: &[usize] = match effort {
        Effort::Smoke => &[SHORT, 10_000],
        Effort::Long | Effort::Full => &[SHORT, 50_000, 200_000],
    };
    let title = format!("stream: zcoder -p, records of {} bytes", PIECE.len());
    writeln!(out, "{title:<46}{:>8}{:>10}  ratio", "ms", "peak MiB")?;
    let temp = Temp::new()?;
    let mut least = None;
    for &records in counts {
        let runs: io::Result<Vec<(f64, f64)>> = (0..5).map(|_| turn(&temp, records)).collect();
        let (mut times, mut peaks): (Vec<f64>, Vec<f64>) = runs?.into_iter().unzip();
        times.sort_by(f64::total_cmp);
        peaks.sort_by(f64::total_cmp);
        let (time, peak) = (times[2] * 1e3, peaks[2]);
        let ratio = peak / *least.get_or_insert(peak);
        let name = format!("{} bytes", records * PIECE.len());
        writeln!(out, "  {name:<44}{time:>8.1}{peak:>10.1}{ratio:>7.3}")?;
    }
    Ok(())
}

/// Seconds from the first record to the first byte of the printed answer, and the program's peak.
fn turn(temp: &Temp, records: usize) -> io::Result<(f64, f64)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let work = temp.path.join("work");
    fs::create_dir_all(&work)?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_zcoder"))
        .args(["-qp", "go", "--model", "m"])
        .env_clear()
        .env("OLLAMA_HOST", listener.local_addr()?.to_string())
        .env("HOME", &temp.path)
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let answer = PIECE.repeat(records);
    let server = thread::spawn(move || serve(&listener, records));
    let mut stdout = child.stdout.take().map(BufReader::new);
    let stdout = stdout.as_mut().ok_or_else(|| io::Error::other("no pipe"))?;
    let any = !stdout.fill_buf()?.is_empty();
    let end = Instant::now();
    let peak = peak_mib(&child.id().to_string())?;
    let mut printed = String::new();
    stdout.read_to_string(&mut printed)?;
    let status = child.wait()?;
    if !any || !status.success() || printed.trim() != answer.trim() {
        return Err(io::Error::other(format!("not the answer: {status}")));
    }
    let begin = server.join().map_err(|_| io::Error::other("no server"))??;
    Ok((end.duration_since(begin).as_secs_f64(), peak))
}

/// Answers until a chat was answered; when that began.
fn serve(listener: &TcpListener, records: usize) -> io::Result<Instant> {
    let record = format!(
        "{{\"message\":{{\"role\":\"assistant\",\"content\":\"{PIECE}\"}},\"done\":false}}\n"
    );
    let chunk = format!("{:x}\r\n{record}\r\n", record.len());
    let last = "{\"message\":{\"content\":\"\"},\"done\":true}\n";
    let last = format!("{:x}\r\n{last}\r\n0\r\n\r\n", last.len());
    let chat = [chunk.repeat(records), last].concat();
    loop {
        let (mut stream, _) = listener.accept()?;
        let path = request(&stream)?;
        let body = match path.as_str() {
            "/api/chat" => {
                let begin = Instant::now();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")?;
                stream.write_all(chat.as_bytes())?;
                return Ok(begin);
            }
            "/api/show" => {
                "{\"model_info\":{\"m.context_length\":32768,\"general.architecture\":\"m\"},\"capabilities\":[\"completion\",\"tools\"]}"
            }
            _ => "{\"models\":[]}",
        };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
    }
}

/// Reads a whole request; its path.
fn request(stream: &TcpStream) -> io::Result<String> {
    let mut lines = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    lines.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    io::copy(&mut lines.take(length), &mut io::sink())?;
    Ok(first.split(' ').nth(1).unwrap_or_default().to_string())
}
