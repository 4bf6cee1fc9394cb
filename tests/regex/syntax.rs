//! Every element of the syntax, a case a line.
use super::{LINES, Options, TEXT, all, all_with, lines};

#[test]
fn literals() {
    all("", "«»a«»b«»");
    all("a", "«a»b«a»");
    all("abc", "ab«abc»abab«abc»");
    all("日本", "x«日本»日«日本»");
    all("fn main() {", "fn main() {");
    all(r"fn main\(\) {", "x «fn main() {»");
    all("a}b]", "«a}b]»");
    all("a{b}{c}", "«a{b}{c}»");
    all("{", "«{»");
    all("{}", "interface«{}»");
    all("a{,}", "«a{,}»");
    all("a{1,2,3}", "«a{1,2,3}»");
    all("a{1", "«a{1»");
    all("x{a}", "xx«x{a}»");
    all("#a b", "«#a b»");
}

#[test]
fn escapes() {
    all(r"\n\t\r\f\v\a", "x«\n\t\r\x0c\x0b\x07»");
    all(r"\x41\x{42}\u0043\u{44}\U00000045\U{46}", "«ABCDEF»");
    all(r"\x{1F600}\u{1f600}\xe9\u00e9", "«😀😀éé»");
    all(r"\.\*\+\?\(\)\[\]\{\}\|\^\$\\", r"«.*+?()[]{}|^$\»");
    all(r"\/\-\ \#\&\~\@\%\!\,\;\:\'\=\_\`", "«/- #&~@%!,;:'=_`»");
    all("\\\"", "«\"»");
}

#[test]
fn dots() {
    all(".", "«a»«é»«日»«😀»\n«\r»");
    all("(?s).", "«a»«\n»");
    all("a.c", "«abc» ac «aéc» a\nc");
    lines(".", "«a»\r\n«b»");
    lines("(?s).", "«a»«\r»\n«b»");
}

#[test]
fn sets() {
    all("[abc]", "«a»d«c»«b»");
    all("[a-cx-z]+", "«abxyz»d«c»");
    all("[^a-c]+", "ab«xé\n»c");
    all("[]a]+", "«]a»[");
    all("[^]a]+", "]a«[b»");
    all("[-a]+", "«a-»b");
    all("[a-]+", "«a-»b");
    all("[--a]+", "«a--»b");
    all(r"[\w-.]+", "«a-b.c»,");
    all(r"[\d\s]+", "a«1 2\n»b");
    all(r"[^\d\s]+", "«a»1 2\n«b»");
    all(r"[\]\\\-\[]+", r"a«]\-[»");
    all(r"[\x41-\x43\u{e9}]+", "«ABCé»D");
    all("[é-ü]+", "e«éü»u");
    all("[日-本]+", "«日»a");
    all("[.*+?(){}|^$]+", "a«.*+?(){}|^$»b");
    all("[a^]+", "«a^»");
    all("[[:alpha:]]+", "«aZ»é1«b»");
    all("[[:^alpha:]]+", "aZ«é1»b");
    all("[[:digit:][:space:]]+", "a«1 2\t»b");
    all("[[:alnum:]_]+", "«a1_»-");
    all("[[:upper:]][[:lower:]]+", "«Ab» ab");
    all("[[:punct:]]+", "a«!~`[{@/:»b");
    all("[[:xdigit:]]+", "«09afAF»g");
    all("[[:blank:]]+", "a« \t»\nb");
    all("[[:cntrl:]]+", "a«\x00\x1f\x7f»b");
    all("[[:graph:]]+", " «!~a»\t");
    all("[[:print:]]+", "\t« !~»\n");
    all("[[:word:]]+", "«a_9»é");
    all("[[:ascii:]]+", "é«\x00\x7f»é");
    all("[[:lower:]-]+", "A«a-b»");
    all("[:alpha]+", "«a:lph»z");
    all("[[:Alpha:]]+", "z«:A:lpha:»z");
}

#[test]
fn sets_of_sets() {
    all("[a-z[0-9]]+", "«a1»A");
    all("[a-z&&[^aeiou]]+", "a«bcd»e«f»");
    all("[a-z&&b-y&&c-x]+", "ab«cx»yz");
    all(r"[\w--\d]+", "«ab»12«_»");
    all("[a-z--[aeiou]--x]+", "a«bc»xi");
    all("[^a-z--b]+", "a«bA»c");
    all("[^[a-c]d]+", "abcd«e»");
    all("[&a]+", "«a&»b");
    all("[a&b~]+", "«a&b~»c");
    all(r"[[\]]a]+", "«]a»[");
    all("[a&&]", "a");
}

#[test]
fn perl_classes() {
    all(r"\d+", "a«123»b«٣½Ⅷ»");
    all(r"\D+", "«a»123«b»");
    all(r"\w+", "«abc_1»-«日本»,«é»");
    all(r"\W+", "a«-, »b");
    all(r"\s+", "a« \t\n\u{a0}\u{3000}»b");
    all(r"\S+", "«a»\u{2003}«b»");
    all(r"\p{Lu}\p{Ll}+", "«Élan» élan «Ab»");
    all(r"\pL+\pN", "«aé1»");
    all(r"\PL+", "a«1-»b");
    all(r"\p{Uppercase}\p{Lowercase}\p{Alphabetic}", "«AaA»");
    all(r"\p{White_Space}\P{White_Space}", "a« b»");
    all(r"\p{Cc}", "a«\x07»b");
    all(r"[\p{Lu}\d]+", "a«É1»");
}

#[test]
fn groups_and_alternation() {
    all("(ab)+", "«abab»a");
    all("(?:ab)+c", "«ababc»");
    all("(?<year>[0-9]{4})-(?P<month>[0-9]{2})", "x«2024-05»-01");
    all("a|b", "«a»«b»c");
    all("a|ab", "«a»b");
    all("ab|a", "«ab»«a»");
    all("(a|ab)(c|bcd)", "«abcd»");
    all("|a", "«»a«»");
    all("a|", "«a»b«»");
    all("(|a)b", "«ab»«b»");
    all("foo|bar|日本", "«bar»«日本»«foo»");
    all("samwise|sam", "«samwise» «sam»");
    all("sam|samwise", "«sam»wise");
    all("()", "«»a«»");
    all("(?:)a", "«a»");
    all("(((a)))", "«a»");
    all("a(b|c|)d", "«abd»«acd»«ad»");
}

#[test]
fn repetition() {
    all("a*", "«»b«aa»b«»");
    all("a+", "b«aa»b");
    all("a?", "«»b«a»«a»b«»");
    all("a{2}", "«aa»a");
    all("a{2,}", "a b «aaa»");
    all("a{2,3}", "«aaa»«aa»");
    all("a{0,1}b", "a«ab»«b»");
    all("a{,2}b", "a«aab»");
    all("a{0}b", "a«b»");
    all("a{1}b", "a«ab»");
    all("(ab){2,3}", "«ababab»«abab»");
    all("a*?b", "«aab»");
    all("a+?", "«a»«a»");
    all("a??b", "«ab»");
    all("a??", "«»a«»");
    all("a{2,3}?", "«aa»a");
    all("a{2,}?", "«aa»«aa»");
    all("a{2}?", "«aa»");
    all("<.+?>", "«<a>»«<b>»");
    all("<.+>", "«<a><b>»");
    all("(a+)+b", "«aaab»");
    all("a**", "«»b«aa»b«»");
    all("a+*?b", "«aab»");
    all("(a*)*", "«»b«aa»b«»");
    all("(a*)+", "«»b«aa»b«»");
    all("(a|b*)*", "«abba»c«»");
    all("(a*?)*?b", "«aab»");
    all("(|a)+", "«»a«»");
    all("(|a)*", "«»a«»");
    all("(a||b)+", "«ab»");
    all("日{2}", "日x«日日»");
    all(".{3}", "«日本a»");
    all("^*a", "«a»«a»");
}

#[test]
fn anchors() {
    all("^a", "«a»a\na");
    all("a$", "a\na«a»");
    all("^", "«»a\n");
    all("$", "a\n«»");
    all("^$", "«»");
    all(r"\Aa|b\z", "«a»ab«b»");
    all("(?m)^a", "«a»a\n«a»");
    all("(?m)a$", "aa\r\na«a»\n");
    all("(?m)^", "«»a\n«»b\n«»");
    all("(?m)$", "a«»\n«»");
    all("(?m)^$", "a\n«»\nb\n«»");
    all(r"(?m)\Aa|a\z", "«a»\na\n«a»");
    all("(?m)^(?-m)$", "a\n«»");
    all("(^a|b)+", "«ab»a");
    all("(?:^|x)a", "«a»a«xa»");
    all("a(?:$|x)", "«ax»a«a»");
    all("a^b", "ab");
    all("a$b", "ab");
    let multi_line = Options {
        multi_line: true,
        ..TEXT
    };
    all_with(multi_line, "^a$", "«a»\n«a»\nab");
    all_with(multi_line, r"a\nb", "«a\nb»");
}

#[test]
fn word_boundaries() {
    all(r"\bfoo\b", "«foo» foobar xfoo («foo»)");
    all(r"\b", "«»ab«» «»c«»");
    all(r"\B", "a«»b «»-«»");
    all(r"\Boo\B", "f«oo»d foo");
    all(r"\<a", "«a»ba «a»");
    all(r"a\>", "ab«a» «a»");
    all(r"\<", "«»ab «»c");
    all(r"\>", "ab«» c«»");
    all(r"\bé", "aé «é»");
    all(r"日\b", "日本 «日»");
    all(r"\b日本\b", "«日本» x日本");
    all(r"a\b", "aé «a»-«a»");
    all(r"(?:\b|x)a", "ba «a»«xa»");
    // Which branch is preferred behind the assertion depends on whether it holds.
    all(r"(?:\B?|k)*", "«»a«»a«»k«»z«»");
    all(r"(?:\B?|k)*z", "aa«kz»");
    all(r"(?:\b?|k)*", "«»a«»k«»");
}

#[test]
fn flags() {
    all("(?i)abc", "«ABC»«aBc»ab");
    all("a(?i)b|c", "A«aB»«C»");
    all("(a(?i)b)c", "«aBc»aBC");
    all("(?i:a)b", "«Ab»aB");
    all("(?i)a(?-i)b", "«Ab»AB");
    all("(?i)a(?-i:b)c", "«AbC»");
    all("(?s:.)+", "«a\nb»");
    all("(?im-s)^a.", "«Ab»\n«ac»a\n");
    all("(?x) a b # comment\n c", "«abc»");
    all(r"(?x) a\ b \# [ x y ] +", "«a b#xyx»");
    all("(?x)a +", "«aa»");
    all("(?x: a ) b", "«a b»");
    all("(?x) a # to the end", "«a»");
    let ignore_case = Options {
        ignore_case: true,
        ..TEXT
    };
    all_with(ignore_case, "straße", "«STRAßE» STRASSE «straẞe»");
    all_with(ignore_case, "(?-i)a", "A«a»");
}

#[test]
fn case_beyond_ascii() {
    all("(?i)é", "«É»«é»");
    all("(?i)σ", "«Σ»«σ»«ς»");
    all("(?i)ς", "«Σ»«σ»«ς»");
    all("(?i)k", "«k»«K»«\u{212a}»");
    all("(?i)\u{212a}", "«k»«K»«\u{212a}»");
    all("(?i)s", "«s»«S»«ſ»");
    all("(?i)i", "«i»«I»ıİ");
    all("(?i)ı", "iI«ı»");
    all("(?i)ж", "«Ж»«ж»");
    all("(?i)µ", "«µ»«μ»«Μ»");
    all("(?i)ǆ", "«Ǆ»«ǅ»«ǆ»");
    all("(?i)[a-c]+", "«aBC»d");
    all("(?i)[^a-c]+", "aBC«d»");
    all("(?i)[k-l]", "«\u{212a}»");
    all("(?i)[\u{212a}]", "«k»");
    all("(?i)[а-я]+", "«Привет»");
    all(r"(?i)\p{Lu}+", "«aB»1");
    all(r"(?i)[[:upper:]]+", "«aB»1");
    all(r"(?i)\x41", "«a»«A»");
}

#[test]
fn single_lines() {
    lines("^a", "«a»a\n«a»b");
    lines("a$", "a«a»\nb«a»\r\na«a»");
    lines("^$", "a\n«»\n«»\r\nb");
    lines("^.*$", "«ab»\n«c»\r\n«»\n");
    lines(r"\Aa|b\z", "«a»ba«b»\n«a»«b»");
    lines("(?-m)^a", "«a»\n«a»");
    lines(r"a\s*b", "a\nb«a \tb»");
    lines("[^x]+", "«a»\n«b»x");
    lines(r"\W+", "a« - »\n«  »b");
    lines(r"[\n-\r]+", "a«\r»\n«\x0b»");
    lines("(?s)a.*", "«ab»\nc");
    lines("a*", "«aa»\n«»\n«»b«»\n");
    lines("x*$", "a«xx»\nb«»\n");
    lines("", "");
    lines("", "«»\n");
    all_with(
        Options {
            multi_line: true,
            ..LINES
        },
        "^a$",
        "«a»\n«a»\r\n",
    );
}
