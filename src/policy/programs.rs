//! What is known of programs: which run what their arguments say, which options do, which read files only. Tables; `rules`, `judge`,
//! `carried` and `offer` look things up here.
//!
//! ```text
//! interpreter("python3")                     a rule on it allows any code
//! wrapper("timeout")                         options -s -k take a value, one operand, then a command
//! exec_option([find . -exec rm {} +], 1)     `-exec`
//! exec_option([sed -n 1,5p a], 1)            nothing          [sed -i …]  `-i`        [sed '1e date' a]  `1e date`
//! ```
//!
//! The tables are made of the manuals of the programs (GNU coreutils, findutils, tar, sed, git, ripgrep, fd, curl, rsync, CMake, cargo,
//! go), and cannot be complete: what a program does beyond its arguments (settings, plug-ins, scripts of the project) is what a rule
//! allows when it allows the program.
//!
//! Invariant: an entry too much costs a question, one too few is a hole.

use super::shell::{Word, base};
use crate::text::Words;

/// A program that runs the command in its arguments.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Letters and long options whose value is the next word.
    values: &'static str,
    long_values: Words,
    /// Words before the command (`timeout 5`).
    operands: usize,
}

const fn wrapper_row(
    name: &'static str,
    values: &'static str,
    long_values: &'static str,
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        values,
        long_values: Words(long_values),
        operands,
    }
}

#[rustfmt::skip] // a table
const WRAPPERS: &[Wrapper] = &[
    wrapper_row("sudo", "CDghpRrTtUu", "--user --group --host --prompt --chdir --chroot --role --type --close-from", 0),
    wrapper_row("doas", "Cu", "", 0),
    wrapper_row("pkexec", "", "--user", 0),
    wrapper_row("env", "uCS", "--unset --chdir", 0),
    wrapper_row("nohup", "", "", 0),
    wrapper_row("timeout", "sk", "--signal --kill-after", 1),
    wrapper_row("nice", "n", "--adjustment", 0),
    wrapper_row("ionice", "cnpPu", "--class --classdata", 0),
    wrapper_row("chrt", "TPD", "", 1),
    wrapper_row("taskset", "", "", 1),
    wrapper_row("setsid", "", "", 0),
    wrapper_row("stdbuf", "ioe", "--input --output --error", 0),
    wrapper_row("time", "fo", "--format --output", 0),
    wrapper_row("xargs", "adEIJLnPRSs", "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace", 0),
    wrapper_row("parallel", "IjnNaC", "--jobs --arg-file --colsep", 0),
    wrapper_row("command", "", "", 0),
    wrapper_row("builtin", "", "", 0),
    wrapper_row("exec", "a", "", 0),
    wrapper_row("chroot", "", "--userspec --groups", 1),
    wrapper_row("unshare", "SG", "", 0),
    wrapper_row("nsenter", "tSG", "--target", 0),
    wrapper_row("setpriv", "", "", 0),
    wrapper_row("strace", "eopsauEXPSIb", "", 0),
    wrapper_row("ltrace", "eopsnaulAFX", "", 0),
    wrapper_row("valgrind", "", "", 0),
    wrapper_row("watch", "nq", "--interval", 0),
    wrapper_row("flock", "EwcI", "--timeout --conflict-exit-code", 1),
    wrapper_row("busybox", "", "", 0),
    wrapper_row("toybox", "", "", 0),
    wrapper_row("systemd-run", "pEu", "--unit --property --setenv", 0),
    wrapper_row("catchsegv", "", "", 0),
    wrapper_row("faketime", "f", "", 1),
    wrapper_row("xvfb-run", "efnps", "", 0),
    wrapper_row("fakeroot", "lisb", "", 0),
    wrapper_row("dbus-run-session", "", "", 0),
    wrapper_row("script", "cEIOBT", "--command", 0),
    wrapper_row("su", "cgGsw", "--command --group --shell", 1),
    wrapper_row("runuser", "ucgGs", "--user --command --group", 0),
    wrapper_row("ssh", "BbcDEeFIiJLlmOopQRSWw", "", 1),
    wrapper_row("entr", "", "", 0),
    wrapper_row("npx", "pc", "--package --call", 0),
    wrapper_row("bunx", "", "", 0),
    wrapper_row("uvx", "", "--from --with --python", 0),
    wrapper_row("pipx", "", "", 1),
    wrapper_row("direnv", "", "", 2),
    wrapper_row("nix-shell", "pIA", "--run --command", 0),
];

/// Those whose options are all known: a letter that is not among their values takes none.
const WELL_KNOWN: Words =
    Words("sudo doas env nohup timeout nice ionice setsid stdbuf time xargs command exec");

/// Shells: `-c` is followed by a script, a word without dash is one, and without either it is read from standard input.
const SHELLS: Words = Words("sh bash zsh dash ksh mksh ash yash fish rbash csh tcsh");

/// Programs that run whatever their arguments or their input say.
#[rustfmt::skip] // a table
const INTERPRETERS: Words = Words("awk gawk mawk nawk python python2 python3 pypy pypy3 perl ruby irb node nodejs deno bun tsx \
    ts-node php lua luajit tclsh wish expect Rscript julia ghci runghc scala groovy jshell osascript pwsh guile racket sbcl \
    emacs vi vim nvim ed ex gdb lldb sqlite3 psql mysql m4 dc eval source . trap alias at batch crontab tmux screen docker \
    podman kubectl ansible nc socat zcoder");

/// Programs whose first word says what they do: a rule on the name alone allows all of it.
#[rustfmt::skip] // a table
pub(super) const SUBCOMMANDS: Words = Words("git hg svn jj gh glab cargo rustup go npm pnpm yarn pip pip3 uv poetry pipenv conda apt \
    apt-get dnf yum pacman brew nix systemctl journalctl dotnet mix bundle gem composer terraform helm zig swift bazel meson \
    stack cabal opam dune docker-compose rails flutter dart hatch pdm tox nox just task gradle gradlew mvn mvnw ip snap flatpak");

/// Programs for which no rule is offered: a person who wants one writes it down.
pub(super) const DESTRUCTIVE: Words = Words(
    "rm rmdir unlink mv cp ln install dd tee truncate shred patch chmod chown chgrp kill pkill killall \
    curl wget scp sftp rsync ftp telnet mount umount reboot shutdown poweroff halt export unset unalias readonly local declare \
    typeset set shopt hash enable ulimit umask read getopts shift wait exit return break continue fg bg jobs history fc bind \
    complete printf test [ let",
);

/// What a shell command sets for those after it: no rule may allow it among others.
pub(super) const CHANGERS: Words = Words(
    "alias unalias export readonly local declare typeset set shopt hash enable trap exec eval source . \
    read getopts unset let shift return break continue pushd popd umask ulimit printf mapfile readarray bind fc history builtin",
);

/// The wrapper of that name.
pub(super) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|row| row.name == name)
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(name)
}

pub(super) fn is_interpreter(name: &str) -> bool {
    // `python3.12`, `lua5.4`: the same program.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let known = |name: &str| INTERPRETERS.contains(name) || is_shell(name);
    known(name) || known(bare)
}

impl Wrapper {
    /// Where in `words` the command begins, and whether every option before it was known.
    pub(super) fn command(&self, words: &[Word]) -> (usize, bool) {
        let mut at = 1;
        let mut sure = true;
        let mut operands = self.operands;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            sure &= !word.unknown;
            if text == "--" {
                at += 1;
                // `timeout -- 5 cmd`: what is owed still comes.
                return (at + operands, sure);
            }
            if let Some(option) = text.strip_prefix("--") {
                let separate = self.long_values.contains(text);
                sure &= separate || option.contains('=');
                at += if separate { 2 } else { 1 };
            } else if let Some(letters) = text.strip_prefix('-').filter(|l| !l.is_empty()) {
                at += 1;
                if let Some(value) = letters.find(|c| self.values.contains(c)) {
                    at += usize::from(value + 1 == letters.len());
                } else {
                    sure &= WELL_KNOWN.contains(self.name);
                }
            } else if self.name == "env" && text.contains('=') {
                at += 1;
            } else if operands > 0 {
                operands -= 1;
                at += 1;
            } else {
                break;
            }
        }
        (at, sure)
    }

    /// The value of `-c` or `--command`, for those whose `-c` is a script.
    pub(super) fn script<'w>(&self, words: &'w [Word]) -> Option<&'w Word> {
        let options = match self.name {
            "env" => Words("-S -vS"),
            "su" | "runuser" | "script" | "flock" | "npx" | "nix-shell" => {
                Words("-c -qc -lc --command --call --run")
            }
            _ => return None,
        };
        let at = words.iter().position(|word| options.contains(&word.text))?;
        words.get(at + 1)
    }
}

/// Options of a program that run other programs, write files, or read orders from somewhere else.
struct Options {
    names: Words,
    /// Single letters, found anywhere in a word like `-xyz`.
    letters: &'static str,
    /// Whole words as they stand: long options (also shortened), and `-words` of find and cmake.
    words: Words,
}

const fn options(names: &'static str, letters: &'static str, words: &'static str) -> Options {
    Options {
        names: Words(names),
        letters,
        words: Words(words),
    }
}

#[rustfmt::skip] // a table
const EXEC_OPTIONS: &[Options] = &[
    options("find gfind", "", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from -L -follow"),
    options("grep egrep fgrep zgrep", "R", "--dereference-recursive"),
    options("fd fdfind", "xXL", "--exec --exec-batch --follow"),
    options("git", "O", "--output --open-files-in-pager --ext-diff --textconv --upload-pack --receive-pack --exec --extcmd \
        --tool --config --template --no-index --tree-filter --index-filter --msg-filter --separate-git-dir --env-filter --command --strategy \
        --gpg-sign --signing-key"),
    options("rg", "fzL", "--pre --hostname-bin --search-zip --follow --file --ignore-file"),
    options("ag ack", "", "--pager --output --files-from --ackrc"),
    options("shuf gshuf iconv", "o", "--output"),
    options("yq", "i", "--inplace --in-place"),
    options("sort gsort", "oT", "--output --compress-program --temporary-directory --files0-from"),
    options("tar gtar bsdtar", "IFPTh", "--dereference --keep-directory-symlink --remove-files --recursive-unlink \
        --to-command --use-compress-program --checkpoint-action --rsh-command --rmt-command --info-script --new-volume-script \
        --absolute-names --files-from --use-compress-prog"),
    options("zip", "T", "--unzip-command -TT"),
    options("split gsplit", "", "--filter"),
    options("rsync", "e", "--rsh --rsync-path --files-from --password-file --log-file --write-batch"),
    options("scp sftp ssh", "oFSJDi", ""),
    options("curl", "oOKTJFDc", "--output --remote-name --remote-name-all --config --upload-file --form --dump-header \
        --cookie-jar --output-dir --remote-header-name --trace --trace-ascii --libcurl --hsts --alt-svc --etag-save --stderr --engine --netrc-file"),
    options("wget", "OoaiPex", "--output-document --output-file --append-output --input-file --directory-prefix --execute \
        --use-askpass --post-file --body-file --config --warc-file"),
    options("make gmake", "fEI", "--eval --file --makefile --include-dir"),
    options("cmake", "EPC", "-E -P -C --install-prefix --find-package"),
    options("ctest", "", "-S -SP -SV -D -T -M --script --script-new-process --build-and-test --test-command --build-exe-dir \
        --dashboard --output-log -O --output-junit"),
    options("ninja", "f", "--file"),
    options("cargo", "Z", "--config --open"),
    options("go", "", "-exec -toolexec -vettool -overlay -modfile --exec --toolexec --vettool --overlay -o"),
    options("npm pnpm yarn", "", "--script-shell --prefix --node-options --userconfig --globalconfig --shell --cwd"),
    options("pip pip3 uv", "", "--python --log --index-url --extra-index-url --find-links --target --prefix --root"),
    options("gcc g++ cc c++ clang clang++", "B", "-wrapper -fplugin -specs --specs -Xclang -load -fuse-ld"),
    options("man", "PHC", "--pager --html --config-file --preprocessor"),
    options("less more most", "ok", "--log-file --lesskey-file --lesskey-src --lesskey-content --LOG-FILE"),
    options("tree", "ol", ""),
    options("ls", "L", "--dereference"),
    options("du", "L", "--dereference --files0-from"),
    options("wc", "", "--files0-from"),
    options("pytest py.test", "", "--rootdir --basetemp --log-file --junitxml --junit-xml"),
    options("pre-commit", "c", "--config"),
    options("gh", "", "--editor --web"),
    options("date", "s", "--set"),
    options("hostname sysctl", "wF", "--write --load --file"),
    options("xxd", "r", "-revert"),
    options("file", "CmM", "--compile"),
];

/// Programs of [`EXEC_OPTIONS`] whose letters do not share a dash.
const WHOLE_WORDS: Words = Words("cmake gcc g++ cc c++ clang clang++ go find gfind");

/// git's own options, before the subcommand.
const GIT_GLOBAL: Words = Words(
    "-c -C --exec-path --git-dir --work-tree --config-env --namespace --super-prefix -p --paginate",
);
/// git's own options whose value is the next word.
pub(super) const GIT_VALUES: Words =
    Words("-c -C --exec-path --git-dir --work-tree --config-env --namespace");

/// Subcommands that run what their arguments say, or set what later ones run.
#[rustfmt::skip] // a table
const RUNNING: &[(&str, Words)] = &[
    ("git", Words("config bisect filter-branch submodule difftool mergetool daemon instaweb maintenance hook credential \
        remote-ext send-email")),
    ("rustup", Words("run")),
    ("npm", Words("exec x config set explore init create")),
    ("pnpm", Words("exec dlx x config create")),
    ("yarn", Words("exec dlx config create node")),
    ("go", Words("generate run env tool")),
    ("cargo", Words("install config")),
    ("uv", Words("run tool")),
    ("poetry", Words("run config shell")),
    ("pipenv", Words("run shell")),
    ("conda", Words("run config")),
    ("bundle", Words("exec config")),
    ("gh", Words("alias extension config api")),
    ("nix", Words("run develop shell eval")),
    ("docker-compose", Words("exec run")),
];

/// The word, from the `from`th on, that makes the program run or write what a rule on the words before did not name.
pub(super) fn exec_option(words: &[Word], from: usize) -> Option<&str> {
    let name = base(&words.first()?.text);
    let rest = words.get(from..).unwrap_or(&[]);
    match name {
        "git" => {
            let mut texts = rest.iter().map(|word| word.text.as_str());
            let out = || texts.find(|text| stands_for(text, "--unsafe-paths"));
            if let Some(word) = git_global(words, from).or_else(out) {
                return Some(word);
            }
        }
        "sed" | "gsed" => return sed(words, from),
        "uniq" | "guniq" | "xxd" => {
            if let Some(file) = second_file(words, from) {
                return Some(file);
            }
        }
        "tee" => {
            let file = rest.iter().find(|word| !word.text.starts_with('-'));
            return file.map(|word| word.text.as_str());
        }
        _ => {}
    }
    if let Some((_, names)) = RUNNING.iter().find(|(program, _)| *program == name) {
        let mut words = words.iter().enumerate().skip(1);
        match words.find(|(_, word)| !word.text.starts_with('-')) {
            Some((at, word)) if at >= from && names.contains(&word.text) => {
                return Some(&word.text);
            }
            Some(_) | None => {}
        }
    }
    if let Some(word) = given_to(name, rest) {
        return Some(word);
    }
    let row = EXEC_OPTIONS.iter().find(|row| row.names.contains(name))?;
    let more = if name == "git" {
        git_letters(words)
    } else {
        ""
    };
    let first = from.max(1);
    let words = words.iter().enumerate().skip(first);
    let found = words
        .take_while(|(_, word)| word.text != "--")
        .find(|(at, word)| {
            // tar's first word needs no dash.
            let bare = *at == 1 && name.ends_with("tar") && !word.text.starts_with('-');
            let letters = match word.text.strip_prefix('-') {
                // No letters behind each other: `-DX` is `-D`.
                Some(letters) if WHOLE_WORDS.contains(name) => letters.get(..1).unwrap_or(""),
                Some(letters) if !letters.starts_with('-') => letters,
                None if bare => word.text.as_str(),
                Some(_) | None => "",
            };
            letters.contains(|c| row.letters.contains(c) || more.contains(c))
                || row
                    .words
                    .iter()
                    .any(|option| stands_for(&word.text, option))
        });
    found.map(|(_, word)| word.text.as_str())
}

/// Variables of make that say what is read and what is run.
const MAKE_VARIABLES: Words =
    Words("SHELL .SHELLFLAGS MAKE MAKEFILES MAKEFLAGS GNUMAKEFLAGS MFLAGS");

/// Endings of CMake's variables that name programs, or files it runs.
const CMAKE_ENDINGS: Words = Words(
    "_COMPILER _LAUNCHER _PROGRAM _LINKER _EMULATOR _FILE _INCLUDE _INCLUDES _BEFORE _EXECUTABLE",
);

/// What is no option and says what is run all the same: `CC='sh -c id'` of make, `host:a.tar` of tar, `-DX_COMPILER=./x` of CMake.
fn given_to<'w>(name: &str, words: &'w [Word]) -> Option<&'w str> {
    let found = match name {
        "make" | "gmake" => words.iter().find(|word| sets_in_make(word)),
        // `@x` is a file that is sent.
        "curl" => {
            let sends = |text: &str| {
                text.starts_with(['@', '<']) || text.contains("=@") || text.starts_with("-d@")
            };
            words.iter().find(|word| sends(&word.text))
        }
        // `-ldflags=-extld=x`: programs of the linker.
        "go" => words.iter().find(|word| word.text.contains("-ext")),
        // A name with a colon is a file on another machine, to which it logs in.
        "tar" | "gtar" | "bsdtar" => words.iter().find(|word| {
            word.text.contains(':') || word.glob.is_some() && !word.text.contains('/')
        }),
        "cmake" => {
            let own = words.iter().take_while(|word| word.text != "--");
            let mut value = false;
            let mut sets = own.filter(|word| {
                let text = word.text.as_str();
                let set = std::mem::replace(&mut value, text == "-D");
                set && sets_in_cmake(text) || text.strip_prefix("-D").is_some_and(sets_in_cmake)
            });
            // Behind `--` it is make's, or ninja's.
            let mut builder = words.iter().skip_while(|word| word.text != "--").skip(1);
            let jobs = |word: &&Word| !is_jobs(&word.text);
            sets.next().or_else(|| builder.find(jobs))
        }
        _ => None,
    };
    found.map(|word| word.text.as_str())
}

/// `X=$(shell id)` is run where it is used, `X!=id` at once, and a file's name may be either.
fn sets_in_make(word: &Word) -> bool {
    let Some((name, value)) = word.text.split_once('=') else {
        return word.glob.is_some();
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-,:@%/".contains(c);
    let name = name.trim_end_matches([':', '+', '?']);
    word.glob.is_some()
        || !name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        || MAKE_VARIABLES.contains(name)
        || !value.chars().all(plain)
        || value.starts_with('-') && value.len() > 3
        || value.contains('/') && !name.ends_with("DIR") && !name.ends_with("PREFIX")
}

fn sets_in_cmake(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let name = name.split(':').next().unwrap_or(name).to_ascii_uppercase();
    CMAKE_ENDINGS.iter().any(|end| name.ends_with(end)) && value.contains(['/', '.', '$', ';', ' '])
}

/// `-j8`, `-j`, `8`, `-k`.
fn is_jobs(word: &str) -> bool {
    let digits = word.strip_prefix("-j").unwrap_or(word);
    digits.bytes().all(|b| b.is_ascii_digit()) || word == "-k"
}

/// `--out`, `--output=x` and `--output` for `--output`; `-exec` for itself.
fn stands_for(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if name == option {
        return true;
    }
    match option.strip_prefix("--") {
        // Long options may be shortened as far as they stay unique; three characters are never more than one letter.
        Some(_) => name.len() >= 3 && option.starts_with(name),
        // `-fplugin=x`, `-Bdir`: joined values.
        None => option.len() > 2 && name.starts_with(option) && word.len() > name.len(),
    }
}

/// Letters of one subcommand of git, harmless with others: `-u PROGRAM`, `-c NAME=VALUE`, `-x COMMAND`, `-o FILE`.
fn git_letters(words: &[Word]) -> &'static str {
    let mut words = words.iter().skip(1).map(|word| word.text.as_str());
    match words.find(|word| !word.starts_with('-')) {
        Some("clone") => "cu",
        Some("rebase") => "x",
        Some("archive") => "o",
        Some(_) | None => "",
    }
}

/// `uniq IN OUT`: these write a file that no option names. A pattern may find two.
fn second_file(words: &[Word], from: usize) -> Option<&str> {
    // Options whose value is the next word.
    let values = match base(&words.first()?.text) {
        "xxd" => Words("-c -cols -g -groupsize -l -len -n -name -o -s -seek -R"),
        _ => Words("-f -s -w --skip-fields --skip-chars --check-chars"),
    };
    let (mut files, mut dashes) = (0, false);
    let mut words = words.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        let text = word.text.as_str();
        if dashes || text == "-" || !text.starts_with('-') {
            files += 1 + usize::from(word.glob.is_some());
            if files > 1 && at >= from {
                return Some(text);
            }
        } else if values.contains(text) {
            words.next();
        }
        dashes |= text == "--";
    }
    None
}

fn git_global(words: &[Word], from: usize) -> Option<&str> {
    let options = words.iter().enumerate().skip(1);
    let mut options = options.take_while(|(_, word)| word.text.starts_with('-'));
    let found = options.find(|(at, word)| {
        let name = word.text.split('=').next().unwrap_or("");
        let joined = word.text.starts_with("-c") || word.text.starts_with("-C");
        *at >= from && (joined || GIT_GLOBAL.contains(name))
    });
    found.map(|(_, word)| word.text.as_str())
}

/// sed is a language: it can write files (`w`) and run programs (`e`). Only what is plainly neither passes.
fn sed(words: &[Word], from: usize) -> Option<&str> {
    let (named, rest) = words.split_at(from.clamp(1, words.len()));
    let mut script_next = false;
    let mut seen_script = named[1..].iter().any(|word| !word.text.starts_with('-'));
    for word in rest {
        let is_script = match word.text.as_str() {
            _ if script_next => true,
            "-n" | "-E" | "-r" | "-u" | "-z" | "-s" | "--quiet" | "--silent"
            | "--regexp-extended" | "--posix" | "--debug" | "-nE" | "-En" | "-nr" | "-rn" => {
                continue;
            }
            "-e" | "-ne" | "--expression" => {
                script_next = true;
                seen_script = true;
                continue;
            }
            text if text.starts_with('-') && text.len() > 1 => return Some(text),
            _ => !seen_script,
        };
        script_next = false;
        seen_script = true;
        // A variable, or the name of a file that a pattern finds, may hold `e` and `w`.
        if is_script && !(word.is_literal() && is_plain_sed(&word.text)) {
            return Some(&word.text);
        }
    }
    None
}

/// Commands of addresses and `p d q =`, and `s` with the flags `g i I p` and digits, joined by `;`.
fn is_plain_sed(script: &str) -> bool {
    if script.contains('\n') {
        return false;
    }
    let mut rest = script.trim_start();
    while !rest.is_empty() {
        let Some(after) = sed_command(rest) else {
            return false;
        };
        let after = after.trim_start();
        match after.strip_prefix(';') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return true,
            None => return false,
        }
    }
    true
}

/// What follows one plain command.
fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?;
    if let Some(next) = rest.strip_prefix(',') {
        rest = sed_address(next)?;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('!').unwrap_or(rest);
    let mut chars = rest.chars();
    match chars.next()? {
        'p' | 'd' | '=' => Some(chars.as_str()),
        'q' => Some(
            chars
                .as_str()
                .trim_start_matches(|c: char| c.is_ascii_digit()),
        ),
        's' => {
            let delimiter = chars
                .next()
                .filter(char::is_ascii_punctuation)
                .filter(|c| *c != '\\')?;
            let rest = until(chars.as_str(), delimiter)?;
            let rest = until(rest, delimiter)?;
            Some(rest.trim_start_matches(|c: char| "giIp".contains(c) || c.is_ascii_digit()))
        }
        _ => None,
    }
}

/// Behind an address, or the text itself when there is none.
fn sed_address(text: &str) -> Option<&str> {
    match text.chars().next()? {
        '/' => until(&text[1..], '/').map(|rest| rest.strip_prefix('I').unwrap_or(rest)),
        '$' => Some(&text[1..]),
        c if c.is_ascii_digit() || c == '+' || c == '~' => {
            Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '~'))
        }
        _ => Some(text),
    }
}

/// Behind the next `delimiter` that no backslash hides.
fn until(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == delimiter {
            // In brackets a delimiter is a letter to some implementations and the end to others.
            return is_closed(&text[..at]).then(|| &text[at + c.len_utf8()..]);
        }
    }
    None
}

/// Whether every bracket of a pattern is closed, however it is read: `[]…]` and `[^]…]` hold a `]`, `[[:x:]…]` a bracket, and a
/// backslash in one is a letter or hides the next.
fn is_closed(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(open) = rest.find('[') {
        let inside = rest[open + 1..].trim_start_matches('^');
        let Some(close) = inside.find(']').filter(|close| *close > 0) else {
            return false;
        };
        if inside[..close].contains(['[', '\\']) {
            return false;
        }
        rest = &inside[close + 1..];
    }
    true
}

/// Which word is a pattern or a script and no path, for programs that take one first.
pub(super) fn pattern(words: &[Word]) -> Option<usize> {
    let name = base(&words.first()?.text);
    let (from, given): (usize, &[&str]) = match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" => {
            (1, &["-e", "-f", "--regexp", "--file"])
        }
        "sed" | "gsed" => (1, &["-e", "-f", "-ne", "--expression", "--file"]),
        "git" if words.get(1).is_some_and(|word| word.text == "grep") => (2, &["-e", "-f"]),
        _ => return None,
    };
    let shortened = |text: &str| {
        text.starts_with("--re") && text != "--recursive"
            || text.starts_with("--f")
            || text.starts_with("--ex")
    };
    let elsewhere = words[from..].iter().any(|word| {
        let name = word.text.split('=').next().unwrap_or("");
        let cluster = word.text.starts_with('-')
            && !word.text.starts_with("--")
            && word.text.contains(['e', 'f']);
        given.contains(&name) || cluster || shortened(name)
    });
    if elsewhere {
        return None;
    }
    let at = words[from..]
        .iter()
        .position(|word| !word.text.starts_with('-'))?;
    Some(from + at)
}
