//! The other end of the wire: a server on loopback that speaks as much of Ollama's API as a turn needs, answers each chat with the
//! next scripted reply, and keeps every request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What one chat request is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Chat {
    /// These records, each in a chunk of its own, and a proper end.
    Records(Vec<String>),
    /// These records, then the connection is closed inside the body.
    Cut(Vec<String>),
    /// These records (none: not even a head), then nothing until the client leaves.
    Stuck(Vec<String>),
    /// An error before the first record.
    Status(u16, String),
}

/// What it says of its one model, and its replies.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Status of the answer to `/api/show`; 0: no answer until the client leaves.
    pub(crate) show_status: u16,
    pub(crate) show: String,
    pub(crate) ps: String,
    /// The same from the second time on.
    pub(crate) ps_later: Option<String>,
    pub(crate) tags: String,
    pub(crate) chats: Vec<Chat>,
    /// Answers chats for which no reply is listed, from their number (counted from 0) and body.
    pub(crate) model: Option<Model>,
}

/// A model that sees nothing but the request.
pub(crate) type Model = fn(usize, &[u8]) -> Chat;

pub(crate) const SHOW: &str = r#"{"capabilities":["completion","tools"],"details":{"parameter_size":"32B"},"model_info":{"general.architecture":"t","t.context_length":32768}}"#;

impl Scene {
    pub(crate) fn new(chats: Vec<Chat>) -> Scene {
        Scene {
            show_status: 200,
            show: SHOW.to_string(),
            ps: r#"{"models":[]}"#.to_string(),
            ps_later: None,
            tags: r#"{"models":[{"name":"m:latest","size":1}]}"#.to_string(),
            chats,
            model: None,
        }
    }

    /// With a model instead of a list.
    pub(crate) fn played_by(model: Model) -> Scene {
        Scene {
            model: Some(model),
            ..Scene::new(Vec::new())
        }
    }
}

/// Request line (`POST /api/chat`) and body.
type Requests = Vec<(String, Vec<u8>)>;

/// A running server.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Requests>>,
    /// A word for each `Stuck` reply whose client has left.
    pub(crate) left: Receiver<()>,
}

struct Serving {
    scene: Scene,
    seen: Arc<Mutex<Requests>>,
    left: Sender<()>,
}

impl Fake {
    pub(crate) fn start(scene: Scene) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (sender, left) = channel();
        let serving = Arc::new(Serving {
            scene,
            seen: Arc::clone(&seen),
            left: sender,
        });
        // Ends with the test process: it owns nothing that must be given back.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                // Read here, one after the other: a request that its client gave up right after sending it must not take its
                // reply after the next one has.
                let Some(request) = serving.receive(&mut stream) else {
                    continue;
                };
                let serving = Arc::clone(&serving);
                std::thread::spawn(move || serving.answer(&request, stream));
            }
        });
        Fake {
            address,
            seen,
            left,
        }
    }

    /// Request lines so far, in order: `POST /api/chat`.
    pub(crate) fn lines(&self) -> Vec<String> {
        let seen = self.seen.lock().expect("not poisoned");
        seen.iter().map(|(line, _)| line.clone()).collect()
    }

    /// Bodies of the chat requests so far.
    pub(crate) fn chats(&self) -> Vec<Vec<u8>> {
        let seen = self.seen.lock().expect("not poisoned");
        let chats = seen.iter().filter(|(line, _)| line == "POST /api/chat");
        chats.map(|(_, body)| body.clone()).collect()
    }

    /// Waits until the client of a `Stuck` reply has left.
    pub(crate) fn client_left(&self) {
        let wait = Duration::from_secs(20);
        self.left.recv_timeout(wait).expect("the client leaves");
    }
}

/// One request; of a chat the reply that is its turn, if the scene has one left.
struct Request {
    line: String,
    /// Not the first of its line.
    repeated: bool,
    chat: Option<Option<Chat>>,
}

impl Serving {
    fn receive(&self, stream: &mut TcpStream) -> Option<Request> {
        let (line, body) = read_request(stream)?;
        let mut seen = self.seen.lock().expect("not poisoned");
        let is_chat = |line: &str| line == "POST /api/chat";
        let earlier = seen.iter().filter(|(line, _)| is_chat(line)).count();
        let listed = || self.scene.chats.get(earlier).cloned();
        let played = || Some((self.scene.model?)(earlier, &body));
        let chat = is_chat(&line).then(|| listed().or_else(played));
        let repeated = seen.iter().any(|(earlier, _)| *earlier == line);
        seen.push((line.clone(), body));
        Some(Request {
            line,
            repeated,
            chat,
        })
    }

    fn answer(&self, request: &Request, mut stream: TcpStream) {
        // A client that has left while we write is part of some tests.
        let _ = match request.line.as_str() {
            "POST /api/show" if self.scene.show_status == 0 => self.stuck(&mut stream),
            "POST /api/show" => whole(&mut stream, self.scene.show_status, &self.scene.show),
            "GET /api/ps" => {
                let later = self.scene.ps_later.as_ref().filter(|_| request.repeated);
                whole(&mut stream, 200, later.unwrap_or(&self.scene.ps))
            }
            "GET /api/tags" => whole(&mut stream, 200, &self.scene.tags),
            _ => match &request.chat {
                Some(reply) => self.chat(reply.as_ref(), &mut stream),
                None => whole(&mut stream, 404, "404 page not found"),
            },
        };
    }

    fn chat(&self, reply: Option<&Chat>, stream: &mut TcpStream) -> std::io::Result<()> {
        match reply {
            Some(Chat::Records(records)) => {
                chunks(stream, records)?;
                stream.write_all(b"0\r\n\r\n")
            }
            Some(Chat::Cut(records)) => chunks(stream, records),
            Some(Chat::Stuck(records)) => {
                if !records.is_empty() {
                    chunks(stream, records)?;
                }
                self.stuck(stream)
            }
            Some(Chat::Status(status, body)) => whole(stream, *status, body),
            None => whole(stream, 400, r#"{"error":"the scene has no more replies"}"#),
        }
    }

    fn stuck(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        // Reads nothing but the end: end of file, or an error when the client was rude.
        while matches!(stream.read(&mut [0; 64]), Ok(n) if n > 0) {}
        // A test that does not wait for it has ended.
        let _ = self.left.send(());
        Ok(())
    }
}

fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())?
            });
            let want = end + 4 + length.unwrap_or(0);
            if bytes.len() >= want {
                let mut words = head.split(' ');
                let line = format!("{} {}", words.next()?, words.next()?);
                return Some((line, bytes[end + 4..want].to_vec()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}

fn whole(stream: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn chunks(stream: &mut TcpStream, records: &[String]) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    for record in records {
        stream.write_all(format!("{:x}\r\n{record}\n\r\n", record.len() + 1).as_bytes())?;
    }
    Ok(())
}

/// A record with content.
pub(crate) fn content(text: &str) -> String {
    let text = json(text);
    format!(r#"{{"message":{{"role":"assistant","content":{text}}},"done":false}}"#)
}

/// A record with thinking.
pub(crate) fn thinking(text: &str) -> String {
    let text = json(text);
    format!(r#"{{"message":{{"role":"assistant","content":"","thinking":{text}}},"done":false}}"#)
}

/// The last record, with the counters of a small reply.
pub(crate) fn done(reason: &str) -> String {
    format!(
        r#"{{"message":{{"role":"assistant","content":""}},"done":true,"done_reason":"{reason}","prompt_eval_count":900,"prompt_eval_duration":1000000,"eval_count":40,"eval_duration":2000000}}"#
    )
}

/// The last record of a server that counted so many tokens in the prompt.
pub(crate) fn counted(reason: &str, prompt: usize) -> String {
    format!(
        r#"{{"message":{{"role":"assistant","content":""}},"done":true,"done_reason":"{reason}","prompt_eval_count":{prompt},"prompt_eval_duration":1000000,"eval_count":40,"eval_duration":2000000}}"#
    )
}

/// A record with one call.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"message":{{"role":"assistant","content":"","tool_calls":[{{"id":"{id}","function":{{"index":0,"name":"{name}","arguments":{arguments}}}}}]}},"done":false}}"#
    )
}

/// A plain answer.
pub(crate) fn says(text: &str) -> Chat {
    Chat::Records(vec![content(text), done("stop")])
}

/// A reply with calls and nothing else.
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Chat {
    let mut records: Vec<String> = calls
        .iter()
        .map(|(id, name, arguments)| call(id, name, arguments))
        .collect();
    records.push(done("stop"));
    Chat::Records(records)
}

fn json(text: &str) -> String {
    let mut out = Vec::new();
    zcoder::json::quote(&mut out, text.as_bytes());
    String::from_utf8(out).expect("JSON is UTF-8")
}
