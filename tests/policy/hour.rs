//! What an hour of ordinary work costs: forty commands as models write them, for a C++ and for a Python project, each question answered with
//! one key: `k` where a rule is offered, else `y`.

use std::path::Path;

use super::table::command;
use super::{CommandMode, DecidedBy, EditMode, Policy, Profile, Question, Verdict};
use crate::support::temp::Temp;
use zcoder::policy::Kept;

const CPP: [&str; 40] = [
    "ls -la",
    "cat CMakeLists.txt",
    "ls src tests",
    "cat src/total.cpp src/total.h",
    "grep -rn 'total' src tests | head -20",
    "git status --short",
    "git log --oneline -5",
    "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug",
    "cmake --build build -j8 2>&1 | tail -20",
    "ctest --test-dir build --output-on-failure",
    "./build/tests",
    "sed -n '1,60p' src/total.cpp",
    "grep -n 'TEST' tests/total_test.cpp",
    "cmake --build build 2>&1 | grep -E 'error|warning' | head -20",
    "ctest --test-dir build --output-on-failure 2>&1 | tail -40",
    "./build/tests --filter total",
    "git diff",
    "cmake --build build -j8 && ./build/tests",
    "cd build && ctest -R total; echo \"exit: $?\"",
    "git diff --stat",
    "wc -l src/total.cpp src/total.h",
    "cat tests/total_test.cpp | head -50",
    "grep -rn --include='*.h' 'struct Order' src",
    "cmake --build build --target tests 2>&1 | tail -5",
    "./build/tests 2>&1 | tail -30",
    "ls build | head",
    "ctest --test-dir build -R order --output-on-failure",
    "git diff HEAD -- src/total.cpp",
    "cmake --build build -j8 >/dev/null 2>&1 && echo built || echo failed",
    "./build/tests --filter order 2>&1 | grep -c ok",
    "head -40 src/order.cpp",
    "tail -n +40 src/order.cpp | head -40",
    "grep -c TEST tests/*.cpp",
    "cmake --build build -j8 2>&1 | tail -3; ./build/tests",
    "git status",
    "set -e; cmake --build build; ctest --test-dir build",
    "ctest --test-dir build -N | tail -3",
    "cat build/Testing/Temporary/LastTest.log | tail -20",
    "git log -3 --stat",
    "git diff --check && echo clean",
];

const PYTHON: [&str; 40] = [
    "ls",
    "cat pyproject.toml",
    "ls -R shop tests | head -40",
    "python3 --version",
    "cat shop/total.py",
    "grep -rn 'def total' shop",
    "git status",
    "python3 -m pytest",
    "python3 -m pytest -x -q 2>&1 | tail -20",
    "python3 -m pytest tests/test_total.py -k 'total and not slow'",
    "cat tests/test_total.py",
    "git diff",
    "python3 -m pytest -q --tb=short 2>&1 | head -60",
    "pip list",
    "pip list | grep -i pytest",
    "ruff check .",
    "ruff check shop --output-format concise",
    "wc -l shop/total.py tests/test_total.py",
    "grep -n 'import' shop/total.py",
    "python3 -m pytest tests/test_order.py -v",
    "head -30 shop/order.py",
    "tail -20 shop/order.py",
    "git diff --stat HEAD",
    "cd tests && ls && cd .. && python3 -m pytest -q",
    "python3 -m pytest -q; echo $?",
    "cat shop/order.py | grep -n class",
    "ls tests/data",
    "head -c 400 tests/data/orders.json",
    "ruff check . && python3 -m pytest -q",
    "git diff shop/order.py | head -80",
    "grep -rn TODO shop tests | wc -l",
    "python3 -m pytest --lf -q",
    "pip list --outdated",
    "set -euo pipefail\npython3 -m pytest -q\nruff check .",
    "cut -d, -f1 tests/data/orders.csv | head -5",
    "cat tests/data/orders.csv | tr a-z A-Z | head -2",
    "git status --short | head",
    "python3 -m pytest tests -q --durations=5 2>&1 | tail -12",
    "pwd && ls -la shop",
    "git diff && git status",
];

/// The questions that a list of commands costs.
fn questions(temp: &Temp, commands: &[&str]) -> Vec<String> {
    let state = temp.path().join("state");
    let workspace = temp.path().join("work");
    let (kept, faults) = Kept::open(&state, &workspace).expect("nothing yet");
    assert_eq!(faults, []);
    let mut policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    policy.keep_in(kept);
    let mut asked = Vec::new();
    for text in commands {
        let Verdict::Ask(asking) = policy.command(command(&workspace, text)) else {
            continue;
        };
        let Question::Command { offers, .. } = asking.question() else {
            panic!("another question");
        };
        asked.push(format!("{text}: {}", offers.rules.join(", ")));
        let kept = policy.keep(&asking).expect("a folder to write to");
        assert_eq!(kept, offers.keep);
        // What was kept holds for the very command that was asked for.
        match policy.command(command(&workspace, text)) {
            Verdict::Allowed(approved) => assert!(matches!(approved.by(), DecidedBy::Rule(_))),
            other => assert!(!kept, "{text}: {other:?}"),
        }
    }
    asked
}

fn project(temp: &Temp, files: &[&str]) {
    for file in files {
        temp.write(&format!("work/{file}"), "x\n");
    }
}

#[test]
fn an_hour_costs_at_most_six_questions() {
    let temp = Temp::new();
    project(
        &temp,
        &[
            "CMakeLists.txt",
            "src/total.cpp",
            "src/total.h",
            "src/order.cpp",
            "tests/total_test.cpp",
            "build/tests",
        ],
    );
    let asked = questions(&temp, &CPP);
    assert_eq!(
        asked,
        [
            "git status --short: allow git status",
            "git log --oneline -5: allow git log",
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug: allow cmake",
            "ctest --test-dir build --output-on-failure: allow ctest",
            "./build/tests: allow ./build/tests",
            "git diff: allow git diff",
        ]
    );
    // The next day the rules are still there.
    assert_eq!(questions(&temp, &CPP), [""; 0]);
    let temp = Temp::new();
    project(
        &temp,
        &[
            "pyproject.toml",
            "shop/total.py",
            "shop/order.py",
            "tests/test_total.py",
            "tests/data/orders.csv",
        ],
    );
    let asked = questions(&temp, &PYTHON);
    assert_eq!(
        asked,
        [
            "python3 --version: allow python3 --version",
            "git status: allow git status",
            "python3 -m pytest: allow python3 -m pytest",
            "git diff: allow git diff",
            "pip list: allow pip list",
            "ruff check .: allow ruff",
        ]
    );
    assert_eq!(questions(&temp, &PYTHON), [""; 0]);
    assert!(Path::new(&temp.path().join("state")).is_dir());
}
