//! The splitter: words, quotes, operators, redirections, here-documents, expansions, and each reason to doubt, at its byte.

use crate::support::cuts::Rng;
use zcoder::policy::shell::{self, Glob, Join, MAX_BYTES, MAX_NESTING, RedirectKind, Script, Word};

/// A script in one line: commands behind what joins them, words in brackets, what was doubted.
fn shown(script: &Script) -> String {
    let mut out = String::new();
    for simple in &script.commands {
        out.push_str(match simple.join {
            Join::Start => "",
            Join::Then => " ; ",
            Join::Background => " & ",
            Join::And => " && ",
            Join::Or => " || ",
            Join::Pipe => " | ",
        });
        if simple.negated {
            out.push('!');
        }
        out.push_str(&"^".repeat(simple.level));
        for word in &simple.assignments {
            out.push_str(&format!("{{{}}}", marked(word)));
        }
        for word in &simple.words {
            out.push_str(&format!("[{}]", marked(word)));
        }
        for redirect in &simple.redirects {
            let sign = match redirect.kind {
                RedirectKind::Read => "<",
                RedirectKind::Write => ">",
                RedirectKind::ReadWrite => "<>",
                RedirectKind::Duplicate => "&",
                RedirectKind::Here => "<<",
            };
            out.push_str(&format!("{sign}({})", marked(&redirect.target)));
        }
    }
    for doubt in &script.doubts {
        out.push_str(&format!(" ?{doubt}"));
    }
    out.trim().replace('\n', "⏎")
}

fn marked(word: &Word) -> String {
    let mut marks = String::new();
    if word.unknown {
        marks.push('?');
    }
    if word.home {
        marks.push('~');
    }
    match word.glob {
        Some(Glob::Leading) => marks.push('*'),
        Some(Glob::After(at)) => marks.push_str(&format!("*{at}")),
        None => {}
    }
    match marks.is_empty() {
        true => word.text.clone(),
        false => format!("{} {marks}", word.text),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(&shell::read(text)), expected, "{text:?}");
}

#[test]
fn words_and_quotes() {
    check("", "");
    check(" \t\n", "");
    check("a  b\tc", "[a][b][c]");
    check("'a b' \"c d\" e\\ f", "[a b][c d][e f]");
    check("a'b'\"c\"\\d", "[abcd]");
    check("'' \"\"", "[][]");
    check(
        "'a\\b' \"a\\b\\\\\\\"\\$\\`\" \\\\",
        "[a\\b][a\\b\\\"$`][\\]",
    );
    check("\"a\\\nb\" 'a\\\nb'", "[ab][a\\⏎b]");
    check("a \\\n b", "[a][b]");
    check("a#b #c d\n#e\nf", "[a#b] ; [f]");
    check("a '#' \\# \"#\"", "[a][#][#][#]");
    check("{} a{b @{u} HEAD@{1}", "[{}][a{b][@{u}][HEAD@{1}]");
    check("[ -f x ]", "[[][-f][x][]]");
    check(
        "é '→'",
        "[é][→] ?byte 0: the command's name `é` has letters that look like others",
    );
}

#[test]
fn operators_and_what_joins() {
    check(
        "a;b\nc&d&&e||f|g",
        "[a] ; [b] ; [c] & [d] && [e] || [f] | [g]",
    );
    check("a &&\nb |\n\nc", "[a] && [b] | [c]");
    check("a;", "[a]");
    check("(a;b)&&c", "[a] ; [b] && [c]");
    check("{ a; b; } | c", "[a] ; [b] | [c]");
    check("! a && ! b", "![a] && ![b]");
    check(
        "if a; then b; elif c; then d; else e; fi",
        "[a] ; [b] ; [c] ; [d] ; [e]",
    );
    check(
        "while a; do b; done; until c; do d; done",
        "[a] ; [b] ; [c] ; [d]",
    );
    check("a then fi", "[a][then][fi]");
    check("'if' a", "[if][a]");
    check("\\{ a", "[{][a]");
}

#[test]
fn groups_tell_what_stands_side_by_side() {
    let groups = |text: &str| -> Vec<usize> {
        shell::read(text)
            .commands
            .iter()
            .map(|simple| simple.group)
            .collect()
    };
    assert_eq!(groups("a && b | c; d"), [0, 0, 0, 0]);
    let apart = groups("(a && b) && c");
    assert!(apart[0] == apart[1] && apart[1] != apart[2]);
    let apart = groups("a && { b; } && c");
    assert!(apart[0] != apart[1] && apart[1] != apart[2]);
}

#[test]
fn redirections() {
    check("a>x 2>&1 <y >>z >|w", "[a]>(x)&(1)<(y)>(z)>(w)");
    check("a 2>x3>y", "[a]>(x3)>(y)");
    check("a2>x", "[a2]>(x)");
    check("a >&- <&0 3<>x", "[a]&(-)&(0)<>(x)");
    check(">x", ">(x)");
    check(">x a", "[a]>(x)");
    check("a > 'x y'", "[a]>(x y)");
    check("a >", "[a] ?byte 2: a redirection without a file");
    check("a >;b", "[a] ; [b] ?byte 2: a redirection without a file");
    check(
        "a >&x",
        "[a]>(x) ?byte 2: `>&` is not the same in every shell",
    );
    check(
        "a <&x",
        "[a]<(x) ?byte 2: `<&` is not the same in every shell",
    );
    check(
        "a &>x",
        "[a] & >(x) ?byte 2: `&>` is not the same in every shell",
    );
    check(
        "a |& b",
        "[a] | [b] ?byte 2: `|&` is not the same in every shell",
    );
    check(
        "a <<<b",
        "[a]<<(b) ?byte 2: `<<<` is not the same in every shell",
    );
    check(
        "a 12>x",
        "[a]>(x) ?byte 2: `10>` is not the same in every shell",
    );
    check(
        "a {n}>x",
        "[a][{n}]>(x) ?byte 2: `{name}>` is not the same in every shell",
    );
}

#[test]
fn here_documents() {
    check("a <<E\nx\n y\nE\nb", "[a]<<(x⏎ y⏎) ; [b]");
    check("a <<-E\n\tx\n\tE\nb", "[a]<<(x⏎) ; [b]");
    check("a <<'E'; b\n$(c)\nE\nd", "[a]<<($(c)⏎) ; [b] ; [d]");
    check(
        "a <<E\n$(c) `d` \\$(e)\nE",
        "[a]<<($(c) `d` \\$(e)⏎)^[c]^[d] ?byte 6: `$(…)` runs a command of its own ?byte 6: backquotes run a command of their own",
    );
    check("a <<E <<F\n1\nE\n2\nF\nb", "[a]<<(1⏎)<<(2⏎) ; [b]");
    check("a <<E && b\nx\nE", "[a]<<(x⏎) && [b]");
    check(
        "a <<E\nx",
        "[a]<<(x⏎) ?byte 6: the here-document is not closed",
    );
    check("a <<E", "[a]<<() ?byte 5: the here-document is not closed");
    check(
        "a <<E\nx\\\nE\nE",
        "[a]<<(x\\⏎) ; [E] ?byte 6: a line that goes on within a word or an operator",
    );
    check(
        "$(a <<E) b",
        "^[a]<<(E)[$(a <<E) ?][b] ?byte 0: `$(…)` runs a command of its own ?byte 2: the here-document is not closed",
    );
}

#[test]
fn expansions() {
    check("a $? \"$?\" ${?}", "[a][$?][$?][${?}]");
    check(
        "a \"$HOME/x\" \"${PWD}\" '$X'",
        "[a][$HOME/x ~][${PWD}][$X]",
    );
    check(
        "a ~ ~/x ~b x~ --y=~/z a:~",
        "[a][~ ~][~/x ~][~b ~][x~][--y=~/z ~][a:~ ~]",
    );
    check(
        "a * b* ?c [d] e[f]g \\* '*' \"*\"",
        "[a][* *][b* *1][?c *][[d] *][e[f]g *1][*][*][*]",
    );
    check("X=1 Y='2 3' a b=c", "{X=1}{Y=2 3}[a][b=c]");
    check("X=1", "{X=1}");
    check("1X=2 a", "[1X=2][a]");
    check("'X'=1 a", "[X=1][a]");
    check("$", "[$]");
    check("a $ $% x$", "[a][$][$%][x$]");
}

#[test]
fn what_is_doubted() {
    let substitution = "`$(…)` runs a command of its own";
    check(
        "a $(b c) d",
        &format!("^[b][c][a][$(b c) ?][d] ?byte 2: {substitution}"),
    );
    check(
        "a \"x$(b)\"",
        &format!("^[b][a][x$(b) ?] ?byte 4: {substitution}"),
    );
    check(
        "a $(b $(c))",
        &format!(
            "^^[c]^[b][$(c) ?][a][$(b $(c)) ?] ?byte 2: {substitution} ?byte 6: {substitution}"
        ),
    );
    check(
        "a `b \\`c\\``",
        "^^[c]^[b][`c` ?][a][`b \\`c\\`` ?] ?byte 2: backquotes run a command of their own ?byte 2: backquotes run a command of their own",
    );
    check(
        "a <(b) >(c)",
        "^[b]^[c][a][<(b) ?][>(c) ?] ?byte 2: `<(…)` and `>(…)` run a command of their own ?byte 7: `<(…)` and `>(…)` run a command of their own",
    );
    check(
        "a $X",
        "[a][$X ?] ?byte 2: the words that `$X` stands for are not known",
    );
    check(
        "a $HOME",
        "[a][$HOME ?~] ?byte 2: the words that `$HOME` stands for are not known",
    );
    check(
        "a $1 $@",
        "[a][$1 ?][$@ ?] ?byte 2: the words that `$1` stands for are not known ?byte 5: the words that `$@` stands for are not known",
    );
    let parameter = "`${…}` with more than a name may stand for anything";
    check(
        "a ${X:-$(b)}",
        &format!("^^[b][a][${{X:-$(b)}} ?] ?byte 2: {parameter} ?byte 7: {substitution}"),
    );
    check(
        "a \"${X:-it's}\"; b",
        &format!("[a][${{X:-it's}} ?] ; [b] ?byte 3: {parameter}"),
    );
    check(
        "a $'b\\n\\x41\\101\\u00e9'",
        "[a][b⏎AAé ?] ?byte 2: `$'…'` and `$\"…\"` are not the same in every shell",
    );
    check(
        "a {b,c} {1..3}",
        "[a][{b,c} ?][{1..3} ?] ?byte 2: `{…}` stands for several words in some shells ?byte 8: `{…}` stands for several words in some shells",
    );
    check(
        "a $[1]",
        "[a][$[1] ?*1] ?byte 2: arithmetic may assign variables and run commands",
    );
    check(
        "for x in y; do a; done",
        "[for][x][in][y] ; [a] ?byte 0: `for` begins a command with a grammar of its own",
    );
    check(
        "f() { a; }",
        "[f] ; [a] ?byte 1: a function is defined, or `(` follows a word",
    );
    check(
        "function f { a; }",
        "[a] ?byte 0: `function` begins a command with a grammar of its own",
    );
    check(
        "x=(a b)",
        "{x=}[a][b] ?byte 2: an assignment that not every shell has",
    );
    check(
        "x+=1 a",
        "{x+=1}[a] ?byte 0: an assignment that not every shell has",
    );
    check(
        "x[0]=1 a",
        "{x[0]=1 *1}[a] ?byte 0: an assignment that not every shell has",
    );
    check("((x))", "[x] ?byte 0: `((` is not the same in every shell");
    check("a 'b", "[a][b] ?byte 2: the quote `'` is not closed");
    check("a \"b", "[a][b] ?byte 2: the quote `\"` is not closed");
    check("a \\", "[a][] ?byte 2: the backslash is not closed");
    check(
        "a `b",
        "^[b][a][`b ?] ?byte 2: backquotes run a command of their own ?byte 2: the backquote is not closed",
    );
    check("(a", "[a] ?byte 2: the parenthesis is not closed");
    check("a)", "[a] ?byte 1: `)` cannot stand here");
    check("a;;b", "[a] ; [b] ?byte 1: `;;` cannot stand here");
    check(
        "a\\\nb",
        "[ab] ?byte 1: a line that goes on within a word or an operator",
    );
    check(
        "a &\\\n& b",
        "[a] & [b] ?byte 3: a line that goes on within a word or an operator",
    );
    check(
        "a\u{200b}",
        "[a\u{200b}] ?byte 0: the command's name `a\u{200b}` has letters that look like others ?byte 1: the character \\u{200b} does not show",
    );
    check("a\r", "[a\r] ?byte 1: the character \\u{d} does not show");
    check(
        "a b\u{a0}c",
        "[a][b\u{a0}c] ?byte 3: the character \\u{a0} does not show",
    );
}

#[test]
fn limits_from_both_sides() {
    let text = |bytes: usize| format!("a {}", "b".repeat(bytes - 2));
    assert_eq!(shell::read(&text(MAX_BYTES)).doubts, []);
    let doubts = shell::read(&text(MAX_BYTES + 1)).doubts;
    assert_eq!(
        doubts[0].to_string(),
        "byte 65536: the text is longer than 65,536 bytes"
    );
    // A character that the limit would cut is not read.
    let doubts = shell::read(&format!("a{}é", "b".repeat(MAX_BYTES - 2))).doubts;
    assert_eq!(doubts[0].at, MAX_BYTES - 1);
    let nested = |depth: usize| format!("{}a{}", "$(".repeat(depth), ")".repeat(depth));
    let deep = |depth: usize| {
        shell::read(&nested(depth))
            .doubts
            .iter()
            .any(|doubt| doubt.to_string().contains("more than 16"))
    };
    assert!(!deep(MAX_NESTING));
    assert!(deep(MAX_NESTING + 1));
}

#[test]
fn any_text_is_read_to_its_end() {
    for piece in [
        "$(", "`", "${", "(", "{ ", "'", "\"", "<<E\n", "$((", "<(", "if ", "! ", "a|", "\\\n",
        "a=(", "\"$(", "\"${x:-",
    ] {
        let script = shell::read(&piece.repeat(MAX_BYTES + 1));
        assert!(!script.doubts.is_empty(), "{piece:?}");
    }
    let mut rng = Rng::new(11);
    let seed =
        "a 'b' \"c $D\" | e > f 2>&1 && (g; h) <<E\ni `j` $(k)\nE\n{ l; } # m\nX=1 n ~/* ${o:-p} é"
            .as_bytes();
    for _ in 0..5_000 {
        let text = String::from_utf8_lossy(&rng.mutate(seed)).into_owned();
        let script = shell::read(&text);
        for simple in &script.commands {
            assert!(
                text.get(simple.span.clone()).is_some(),
                "{text:?}: {:?}",
                simple.span
            );
        }
        assert!(
            script.doubts.iter().all(|doubt| doubt.at <= text.len()),
            "{text:?}"
        );
    }
}
