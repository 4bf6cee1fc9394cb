//! Where a server is: what people write in `OLLAMA_HOST` or `--host` comes in, an [`Endpoint`] goes out; with a
//! [`Via`] and extra headers it becomes the [`Target`] that [`super::client`] connects to.
//!
//! ```text
//! (empty)            http://127.0.0.1:11434        the grammar of Ollama's own client
//! gpubox             http://gpubox:11434
//! http://gpubox      http://gpubox:80              a scheme brings its own port
//! ::1                http://[::1]:11434
//! 0.0.0.0            http://127.0.0.1:11434        where a server listens is not where a client connects
//! gpubox/ollama/     http://gpubox:11434/ollama    a prefix, for proxies
//! https://gpubox     refused, unless `--via` gives a program that does the TLS
//! ```
//!
//! Refused: schemes other than http and https, `user:password@`, hosts and prefixes with blanks, control or non-ASCII
//! characters, hosts that begin with `-` (a `--via` program would read them as an option), `?` and `#`, headers that
//! would break the request or that the client writes itself. A port out of range becomes the default one, with a
//! warning, as in Ollama's client.
//!
//! Invariant: a `Target` with https has a `Via`; there is no way to send a request meant for TLS in the clear.
//! Invariant: `{host}` and `{port}` are put into words that are already split; no shell sees them.
//!
//! Next: [`super::client`].
use super::head::{has_control, is_token};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Ollama's port.
const DEFAULT_PORT: u16 = 11434;

/// http or https (https only with `--via`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// TLS, done by a `--via` program.
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// A parsed address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// How.
    pub scheme: Scheme,
    /// A name, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Empty, or begins with `/` and does not end with it.
    pub prefix: String,
}

/// Why an address, a `--via` or a header was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointError {
    /// Neither http nor https.
    Scheme {
        /// As given.
        scheme: String,
    },
    /// `user:password@host`.
    Userinfo,
    /// Not a name, not an address.
    Host {
        /// As given.
        host: String,
    },
    /// A path that cannot stand before `/api/chat`.
    Prefix {
        /// As given.
        prefix: String,
    },
    /// https without `--via`.
    Https {
        /// The address.
        endpoint: Endpoint,
    },
    /// `--via` without a program.
    ViaEmpty,
    /// `--via` with a quote that is never closed.
    ViaQuote {
        /// As given.
        text: String,
    },
    /// A header name that is not a token, or a value with line ends or other control characters.
    Header {
        /// Its name.
        name: String,
    },
    /// A header that the client writes itself, or that must not be sent.
    OwnHeader {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndpointError::Scheme { scheme } => {
                write!(f, "scheme {scheme:?}: expected http or https")
            }
            EndpointError::Userinfo => f.write_str(
                "a user name or password in the address is not supported: give an Authorization header instead",
            ),
            EndpointError::Host { host } => {
                write!(f, "host {host:?}: expected a name or an IP address")
            }
            EndpointError::Prefix { prefix } => write!(
                f,
                "path {prefix:?}: expected visible ASCII without '?' and '#'"
            ),
            EndpointError::Https { endpoint } => write!(
                f,
                "{endpoint}: zcoder itself speaks plain HTTP only; two ways out: a tunnel (ssh -L 11434:127.0.0.1:11434 {host}, \
                 then use http://127.0.0.1:11434), or a program that does the TLS (--via \"openssl s_client -quiet \
                 -verify_return_error -verify_hostname {{host}} -connect {{host}}:{{port}}\")",
                host = endpoint.host
            ),
            EndpointError::ViaEmpty => f.write_str(
                "--via is empty: expected a program and its arguments, as in \"ssh -W {host}:{port} gpubox\"",
            ),
            EndpointError::ViaQuote { text } => {
                write!(f, "--via {text:?}: a quote is not closed")
            }
            EndpointError::Header { name } => write!(
                f,
                "header {name:?}: expected a name of letters, digits and '-', and a value without control characters"
            ),
            EndpointError::OwnHeader { name } => {
                write!(f, "header {name:?} cannot be set: the client decides about it")
            }
        }
    }
}

impl std::error::Error for EndpointError {}

impl Endpoint {
    /// Reads an address by the grammar of Ollama's client (its `envconfig.Host`). The second value is a warning for the
    /// user.
    pub fn parse(text: &str) -> Result<(Endpoint, Option<String>), EndpointError> {
        let text = text.trim().trim_matches(['"', '\'']).trim();
        let (scheme, default_port, rest) = split_scheme(text)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let prefix = path.trim_end_matches('/');
        let prefix_is_plain =
            prefix.bytes().all(|byte| byte.is_ascii_graphic()) && !prefix.contains(['?', '#']);
        if !prefix_is_plain {
            return Err(EndpointError::Prefix {
                prefix: prefix.to_owned(),
            });
        }
        if authority.contains('@') {
            return Err(EndpointError::Userinfo);
        }
        let (host, port_text) = split_port(authority);
        let (port, warning) = match port_text.map(|text| (text, text.parse::<u16>())) {
            None => (default_port, None),
            Some((_, Ok(port))) => (port, None),
            Some((text, Err(_))) => (
                default_port,
                Some(format!(
                    "port {text:?} is not a number from 0 to 65535: using {default_port}"
                )),
            ),
        };
        let endpoint = Endpoint {
            scheme,
            host: connectable(host)?,
            port,
            prefix: prefix.to_owned(),
        };
        Ok((endpoint, warning))
    }

    /// `host:port`, IPv6 in brackets.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.bracketed(), self.port)
    }

    /// The `Host` header: the scheme's own port and an IPv6 zone are left out (RFC 9110 7.2, RFC 3986 3.2.2).
    pub(super) fn host_header(&self) -> String {
        let host = match self.host.split_once('%') {
            Some((address, _zone)) if address.contains(':') => format!("[{address}]"),
            _ => self.bracketed(),
        };
        if self.port == self.scheme.default_port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    fn bracketed(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }
}

/// `http://127.0.0.1:11434/prefix`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}://{}{}",
            self.scheme.name(),
            self.authority(),
            self.prefix
        )
    }
}

/// The scheme, its default port, and the rest.
fn split_scheme(text: &str) -> Result<(Scheme, u16, &str), EndpointError> {
    let Some((scheme, rest)) = text.split_once("://") else {
        // The one name for which no scheme means https.
        return Ok(match text {
            "ollama.com" => (Scheme::Https, Scheme::Https.default_port(), text),
            _ => (Scheme::Http, DEFAULT_PORT, text),
        });
    };
    let known = [Scheme::Http, Scheme::Https]
        .into_iter()
        .find(|known| known.name().eq_ignore_ascii_case(scheme));
    match known {
        Some(known) => Ok((known, known.default_port(), rest)),
        None => Err(EndpointError::Scheme {
            scheme: scheme.to_owned(),
        }),
    }
}

/// Host without brackets, and the text of the port if there is one. More than one colon outside of brackets is a bare
/// IPv6 address (or no host at all, which `connectable` refuses).
fn split_port(authority: &str) -> (&str, Option<&str>) {
    if let Some(inside) = authority.strip_prefix('[') {
        return match inside.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) => match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => (authority, None),
            },
            None => (authority, None),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        Some(_) | None => (authority, None),
    }
}

/// The host a client can connect to: a wildcard, where a server listens on every address, becomes loopback.
fn connectable(host: &str) -> Result<String, EndpointError> {
    if host.is_empty() {
        return Ok("127.0.0.1".to_owned());
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(match address {
            IpAddr::V4(v4) if v4.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(v6) if v6.is_unspecified() => "::1".to_owned(),
            address => address.to_string(),
        });
    }
    // `fe80::1%eth0`: the standard library's parser knows no zones, the resolver does.
    let is_zoned = host.split_once('%').is_some_and(|(address, zone)| {
        address.parse::<Ipv6Addr>().is_ok()
            && !zone.is_empty()
            && zone
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    });
    let is_name = !host.starts_with('-')
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if is_zoned || is_name {
        Ok(host.to_owned())
    } else {
        Err(EndpointError::Host {
            host: host.to_owned(),
        })
    }
}

/// A program whose stdin and stdout are the connection; words with `{host}` and `{port}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Via {
    /// Program and arguments, at least one.
    pub words: Vec<String>,
}

impl Via {
    /// Splits at blanks outside of `'...'` and `"..."`; quotes are taken off. Nothing else has a meaning: no variables,
    /// no backslashes.
    pub fn parse(text: &str) -> Result<Via, EndpointError> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote: Option<char> = None;
        for letter in text.chars() {
            match (quote, letter) {
                (Some(open), close) if open == close => quote = None,
                (Some(_), inside) => word.get_or_insert_default().push(inside),
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    // An empty pair of quotes is a word too.
                    word.get_or_insert_default();
                }
                (None, blank) if blank.is_whitespace() => words.extend(word.take()),
                (None, plain) => word.get_or_insert_default().push(plain),
            }
        }
        if quote.is_some() {
            return Err(EndpointError::ViaQuote {
                text: text.to_owned(),
            });
        }
        words.extend(word);
        if words.first().is_none_or(String::is_empty) {
            return Err(EndpointError::ViaEmpty);
        }
        Ok(Via { words })
    }

    /// The words for this endpoint. Both marks are replaced in one pass, so that a host cannot bring one along.
    pub(super) fn command(&self, endpoint: &Endpoint) -> Vec<String> {
        let port = endpoint.port.to_string();
        let fill = |word: &String| {
            word.split("{host}")
                .map(|part| part.replace("{port}", &port))
                .collect::<Vec<_>>()
                .join(&endpoint.host)
        };
        self.words.iter().map(fill).collect()
    }
}

/// Everything needed to reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    endpoint: Endpoint,
    via: Option<Via>,
    headers: Vec<(String, String)>,
}

/// Headers that the client writes, or whose presence would change what it may get (RFC 9110 10.1.1 and 12.5.3; `Origin`
/// makes Ollama refuse).
const OWN_HEADERS: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Target {
    /// Refuses https without `--via` (naming the two ways out) and headers that cannot be sent.
    pub fn new(
        endpoint: Endpoint,
        via: Option<Via>,
        headers: Vec<(String, String)>,
    ) -> Result<Target, EndpointError> {
        if endpoint.scheme == Scheme::Https && via.is_none() {
            return Err(EndpointError::Https { endpoint });
        }
        for (name, value) in &headers {
            let name = name.clone();
            if !is_token(name.as_bytes()) || has_control(value.as_bytes()) {
                return Err(EndpointError::Header { name });
            }
            if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(EndpointError::OwnHeader { name });
            }
        }
        Ok(Target {
            endpoint,
            via,
            headers,
        })
    }

    /// The address.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The program in between, if any.
    pub fn via(&self) -> Option<&Via> {
        self.via.as_ref()
    }

    /// Sent with every request.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }
}
