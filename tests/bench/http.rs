//! HTTP: an answer received over loopback, decoded, beside the same bytes only received; and the decoders alone.

use crate::measure::{Case, Effort, compare};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use zcoder::http::client::{Step, Timeouts, exchange};
use zcoder::http::{BodyDecoder, Endpoint, Framing, Limits, Request, Target};
use zcoder::lines::Ndjson;
use zcoder::sys::Cancel;

/// Read size of the plain receiver: the client's own.
const BLOCK_BYTES: usize = 256 << 10;

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let bytes = effort.corpus_bytes() * 8;
    for chunk_bytes in [64, 1024] {
        received(out, effort, bytes, chunk_bytes)?;
    }
    decoded(out, effort, effort.corpus_bytes())
}

/// The primitive `http URL`: gets it and prints how many bytes its body has.
pub(crate) fn get(out: &mut dyn Write, urls: &[String]) -> io::Result<()> {
    for url in urls {
        let authority = url.find("://").map_or(0, |at| at + 3);
        let path = url[authority..]
            .find('/')
            .map_or(url.len(), |at| authority + at);
        let length = body_bytes(&url[..path], &url[path..])?;
        writeln!(out, "{length} bytes")?;
    }
    Ok(())
}

/// Length of the body at this address and path, read by the client.
fn body_bytes(address: &str, path: &str) -> io::Result<usize> {
    let (endpoint, _) = Endpoint::parse(address).map_err(io::Error::other)?;
    let target = Target::new(endpoint, None, Vec::new()).map_err(io::Error::other)?;
    let request = Request {
        method: "GET",
        path,
        body: &[],
    };
    let mut length = 0;
    let cancel = Cancel::new()?;
    let on = &mut |step: Step<'_>| {
        if let Step::Body { bytes } = step {
            length += bytes.len();
        }
        ControlFlow::Continue(())
    };
    let timeouts = Timeouts::default();
    exchange(&target, &request, &timeouts, unlimited(), &cancel, on).map_err(io::Error::other)?;
    Ok(length)
}

fn unlimited() -> Limits {
    Limits {
        body_bytes: u64::MAX,
        ..Limits::default()
    }
}

fn received(
    out: &mut dyn Write,
    effort: Effort,
    bytes: usize,
    chunk_bytes: usize,
) -> io::Result<()> {
    let address = serve(answer(bytes, chunk_bytes))?;
    let text = address.to_string();
    let mut block = vec![0; BLOCK_BYTES];
    let mut cases = [
        Case::new("plain receiving, nothing decoded", || {
            received_bytes(address, &mut block).unwrap_or(0)
        }),
        Case::new("client: body bytes", || body_bytes(&text, "/").unwrap_or(0)),
    ];
    let title = format!("http: an answer in {chunk_bytes}-byte chunks over loopback");
    compare(out, effort, &title, bytes, &mut cases)
}

fn decoded(out: &mut dyn Write, effort: Effort, bytes: usize) -> io::Result<()> {
    // Records of 40 bytes, one a chunk, as a model streams them.
    let record = b"28\r\n{\"message\":{\"content\":\"four or five\"} }\n\r\n";
    let wire = record.repeat(bytes / record.len());
    let (mut block, mut other, mut third) = (
        vec![0; BLOCK_BYTES],
        vec![0; BLOCK_BYTES],
        vec![0; BLOCK_BYTES],
    );
    let mut cases = [
        Case::new("copy of each block into a warmed buffer", || {
            let blocks = wire.chunks(BLOCK_BYTES);
            blocks
                .map(|piece| copied(piece, &mut block)[0] as usize)
                .sum()
        }),
        Case::new("copy, then chunks to body bytes", || {
            let mut length = 0;
            decode(&wire, &mut other, &mut |bytes| length += bytes.len());
            length
        }),
        Case::new("copy, then chunks to body bytes to records", || {
            let mut lines = Ndjson::new(1 << 20);
            let mut length = 0;
            decode(&wire, &mut third, &mut |bytes| {
                let fed: Result<(), zcoder::lines::Error> = lines.feed(bytes, &mut |record| {
                    length += record.len();
                    Ok(())
                });
                length += usize::from(fed.is_err());
            });
            length
        }),
    ];
    compare(
        out,
        effort,
        "http, lines: decoders alone, 40-byte records in chunks",
        wire.len(),
        &mut cases,
    )
}

/// The decoder works in place, so it gets a copy, block by block, as a socket would fill the buffer.
fn decode(wire: &[u8], block: &mut [u8], data: &mut dyn FnMut(&[u8])) {
    let Ok(mut decoder) = BodyDecoder::new(Framing::Chunked, unlimited()) else {
        return;
    };
    for piece in wire.chunks(BLOCK_BYTES) {
        if decoder.feed(copied(piece, block), data).is_err() {
            return;
        }
    }
}

fn copied<'a>(piece: &[u8], block: &'a mut [u8]) -> &'a mut [u8] {
    let block = &mut block[..piece.len()];
    block.copy_from_slice(piece);
    block
}

/// An answer with so many body bytes.
fn answer(bytes: usize, chunk_bytes: usize) -> Vec<u8> {
    let data = vec![b'x'; chunk_bytes];
    let chunk = [format!("{chunk_bytes:x}\r\n").as_bytes(), &data, b"\r\n"].concat();
    let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    answer.extend_from_slice(&chunk.repeat(bytes / chunk_bytes));
    answer.extend_from_slice(b"0\r\n\r\n");
    answer
}

/// Sends the same answer to everybody, until the program ends.
fn serve(answer: Vec<u8>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1024];
            // A request is small and comes in one piece; a client that leaves early is no concern here.
            if stream.read(&mut request).is_ok() {
                let _ = stream.write_all(&answer);
            }
        }
    });
    Ok(address)
}

fn received_bytes(address: SocketAddr, block: &mut [u8]) -> io::Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n")?;
    let mut length = 0;
    loop {
        match stream.read(block)? {
            0 => return Ok(length),
            count => length += count,
        }
    }
}
