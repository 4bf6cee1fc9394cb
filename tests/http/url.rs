//! `Endpoint`, `Via`, `Target`: what people write, and what they mean.
use zcoder::http::{Endpoint, EndpointError, Scheme, Target, Via};

#[track_caller]
fn means(text: &str, expected: &str) {
    let (endpoint, warning) = Endpoint::parse(text).expect("an address");
    assert_eq!(
        (endpoint.to_string().as_str(), warning),
        (expected, None),
        "{text:?}"
    );
}

#[track_caller]
fn warns(text: &str, expected: &str, warning: &str) {
    let (endpoint, warned) = Endpoint::parse(text).expect("an address");
    assert_eq!(
        (endpoint.to_string().as_str(), warned.as_deref()),
        (expected, Some(warning)),
        "{text:?}"
    );
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = Endpoint::parse(text).expect_err("refused");
    assert_eq!(error.to_string(), expected, "{text:?}");
}

#[test]
fn addresses_as_the_official_client_reads_them() {
    means("", "http://127.0.0.1:11434");
    means("  ", "http://127.0.0.1:11434");
    means("1.2.3.4", "http://1.2.3.4:11434");
    means("1.2.3.4:5", "http://1.2.3.4:5");
    means(":1234", "http://127.0.0.1:1234");
    means("gpubox", "http://gpubox:11434");
    means("gpu_box.local:80", "http://gpu_box.local:80");
    means("http://1.2.3.4", "http://1.2.3.4:80");
    means("http://", "http://127.0.0.1:80");
    means("HTTP://h:1", "http://h:1");
    means("https://h/ollama", "https://h:443/ollama");
    means("https://h:1/a/b/", "https://h:1/a/b");
    means("ollama.com", "https://ollama.com:443");
    means("ollama.com:443", "http://ollama.com:443");
    means("::1", "http://[::1]:11434");
    means("[::1]", "http://[::1]:11434");
    means("[::1]:1337", "http://[::1]:1337");
    means("http://[::1]", "http://[::1]:80");
    means("[0:0:0:0:0:0:0:1]:1", "http://[::1]:1");
    means("fe80::1%eth0", "http://[fe80::1%eth0]:11434");
    means("host/", "http://host:11434");
    means("host:1/", "http://host:1");
    means("host:1/%7Ea//", "http://host:1/%7Ea");
    means("/x", "http://127.0.0.1:11434/x");
    means(" \"' host:1 '\" ", "http://host:1");
    means("host:0", "http://host:0");
    means("host:65535", "http://host:65535");
}

#[test]
fn wildcards_become_loopback() {
    means("0.0.0.0", "http://127.0.0.1:11434");
    means("0.0.0.0:1", "http://127.0.0.1:1");
    means("http://0.0.0.0", "http://127.0.0.1:80");
    means("[::]", "http://[::1]:11434");
    means("::", "http://[::1]:11434");
    means("[::]:1/p", "http://[::1]:1/p");
}

#[test]
fn a_port_out_of_range_becomes_the_default_and_is_said() {
    warns(
        "host:66000",
        "http://host:11434",
        "port \"66000\" is not a number from 0 to 65535: using 11434",
    );
    warns(
        "host:-1",
        "http://host:11434",
        "port \"-1\" is not a number from 0 to 65535: using 11434",
    );
    warns(
        "host:",
        "http://host:11434",
        "port \"\" is not a number from 0 to 65535: using 11434",
    );
    warns(
        "host:x",
        "http://host:11434",
        "port \"x\" is not a number from 0 to 65535: using 11434",
    );
    warns(
        "http://host:99999",
        "http://host:80",
        "port \"99999\" is not a number from 0 to 65535: using 80",
    );
    warns(
        "[::1]:99999/p",
        "http://[::1]:11434/p",
        "port \"99999\" is not a number from 0 to 65535: using 11434",
    );
}

#[test]
fn what_is_no_address() {
    refused("ftp://host", "scheme \"ftp\": expected http or https");
    refused("://host", "scheme \"\": expected http or https");
    let userinfo = "a user name or password in the address is not supported: give an Authorization header instead";
    refused("user:pass@host", userinfo);
    refused("http://user@host:1/", userinfo);
    refused("ho st", "host \"ho st\": expected a name or an IP address");
    refused(
        "h\u{e4}",
        "host \"h\u{e4}\": expected a name or an IP address",
    );
    refused("a:b:c", "host \"a:b:c\": expected a name or an IP address");
    refused("[::1", "host \"[::1\": expected a name or an IP address");
    refused(
        "[::1]x",
        "host \"[::1]x\": expected a name or an IP address",
    );
    refused(
        "1::2::3",
        "host \"1::2::3\": expected a name or an IP address",
    );
    refused("-oX", "host \"-oX\": expected a name or an IP address");
    refused(
        "fe80::1%",
        "host \"fe80::1%\": expected a name or an IP address",
    );
    refused(
        "h\u{1b}[2J",
        "host \"h\\u{1b}[2J\": expected a name or an IP address",
    );
    refused(
        "h/a b",
        "path \"/a b\": expected visible ASCII without '?' and '#'",
    );
    refused(
        "h/a?b",
        "path \"/a?b\": expected visible ASCII without '?' and '#'",
    );
    refused(
        "h/a#b",
        "path \"/a#b\": expected visible ASCII without '?' and '#'",
    );
    refused(
        "h/a\r\nX: y",
        "path \"/a\\r\\nX: y\": expected visible ASCII without '?' and '#'",
    );
}

#[test]
fn https_needs_via_and_the_refusal_names_two_ways_out() {
    let (endpoint, _) = Endpoint::parse("https://gpubox/ollama").expect("an address");
    assert_eq!(endpoint.scheme, Scheme::Https);
    let error = Target::new(endpoint.clone(), None, Vec::new()).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "https://gpubox:443/ollama: zcoder itself speaks plain HTTP only; two ways out: a tunnel (ssh -L 11434:127.0.0.1:11434 \
         gpubox, then use http://127.0.0.1:11434), or a program that does the TLS (--via \"openssl s_client -quiet \
         -verify_return_error -verify_hostname {host} -connect {host}:{port}\")"
    );
    let via = Via::parse("true").expect("words");
    let target = Target::new(endpoint.clone(), Some(via.clone()), Vec::new()).expect("a target");
    assert_eq!(
        (target.endpoint(), target.via(), target.headers()),
        (&endpoint, Some(&via), &[][..])
    );
}

#[test]
fn via_words() {
    let words = |text: &str| Via::parse(text).map(|via| via.words);
    let owned = |words: &[&str]| {
        Ok(words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>())
    };
    assert_eq!(
        words("ssh -W {host}:{port} gpubox"),
        owned(&["ssh", "-W", "{host}:{port}", "gpubox"])
    );
    assert_eq!(words(" \ta\n b "), owned(&["a", "b"]));
    assert_eq!(
        words("a 'b c' \"d 'e\" f'g'\"h\" '' \"\""),
        owned(&["a", "b c", "d 'e", "fgh", "", ""])
    );
    assert_eq!(
        words("a\\ b $HOME `x` *"),
        owned(&["a\\", "b", "$HOME", "`x`", "*"])
    );
    for empty in ["", "  ", "''", "'' a"] {
        assert_eq!(words(empty), Err(EndpointError::ViaEmpty), "{empty:?}");
    }
    assert_eq!(
        EndpointError::ViaEmpty.to_string(),
        "--via is empty: expected a program and its arguments, as in \"ssh -W {host}:{port} gpubox\""
    );
    let open = Via::parse("a 'b").expect_err("open quote");
    assert_eq!(open.to_string(), "--via \"a 'b\": a quote is not closed");
}

#[test]
fn headers_that_cannot_be_sent() {
    let refused = |name: &str, value: &str| {
        let (endpoint, _) = Endpoint::parse("h").expect("an address");
        let headers = vec![(name.to_owned(), value.to_owned())];
        Target::new(endpoint, None, headers)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(refused("Authorization", "Bearer x\ty \u{e9}"), Ok(()));
    let malformed = |name: &str| {
        Err(format!(
            "header {name:?}: expected a name of letters, digits and '-', and a value without control characters"
        ))
    };
    assert_eq!(refused("X", "a\r\nHost: b"), malformed("X"));
    assert_eq!(refused("X", "a\nb"), malformed("X"));
    assert_eq!(refused("X", "a\0"), malformed("X"));
    assert_eq!(refused("X:", "a"), malformed("X:"));
    assert_eq!(refused("X Y", "a"), malformed("X Y"));
    assert_eq!(refused("", "a"), malformed(""));
    for name in [
        "Host",
        "Origin",
        "EXPECT",
        "accept-encoding",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
    ] {
        assert_eq!(
            refused(name, "a"),
            Err(format!(
                "header {name:?} cannot be set: the client decides about it"
            ))
        );
    }
}
