//! The sample project of the demo: a till in three small shell scripts, with one mistake that its test finds.
//!
//! ```text
//! README.md            what it is, how to test it
//! src/total.sh         adds up an order: `3 250 apple pie` is three at 250 cents each
//! src/bill.sh          prints an order with its total
//! orders/monday.txt
//! test.sh              two checks; the exit code says how many failed
//! ```
//!
//! Plain `sh` and its built-ins: no compiler, no package, nothing fetched.
//!
//! Invariant: the mistake is mended by replacing [`SLIP`], which stands exactly once in `src/total.sh`, by [`MENDED`].

use std::fs;
use std::io;
use std::path::Path;

/// The mistaken text.
pub const SLIP: &str = "sum=$((sum + price))";

/// What it has to be.
pub const MENDED: &str = "sum=$((sum + count * price))";

/// What is wrong with it, in one sentence.
pub(super) const DIAGNOSIS: &str =
    "src/total.sh adds each price once and forgets how many were ordered.";

/// How one comes to that.
pub(super) const REASONING: &str = "Monday is 3 pies at 250 and 2 teas at 120, so 990. The test found 370, which is 250 + 120: each price \
     was added once. The loop reads count and never uses it. The sum has to grow by count times price.";

/// The task.
const PROMPT: &str = "The test fails. Find out why, fix it, and run the test again. Then run sh src/bill.sh orders/monday.txt";

/// The two commands the task needs, as they will be run.
const COMMANDS: [&str; 2] = ["sh test.sh", "sh src/bill.sh orders/monday.txt"];

const FILES: &[(&str, &str)] = &[
    (
        "README.md",
        "\
# Till

Adds up orders. A line of an order is: how many, the price of one in cents, what.

    sh src/bill.sh orders/monday.txt    prints a bill
    sh test.sh                          checks the sums
",
    ),
    (
        "src/total.sh",
        "\
# Prints the total of an order in cents: sh src/total.sh ORDER
sum=0
while read -r count price what; do
    sum=$((sum + price))
done < \"$1\"
echo \"$sum\"
",
    ),
    (
        "src/bill.sh",
        "\
# Prints an order and its total: sh src/bill.sh ORDER
while read -r count price what; do
    echo \"$count x $what at $price\"
done < \"$1\"
echo \"total $(sh src/total.sh \"$1\")\"
",
    ),
    ("orders/monday.txt", "3 250 apple pie\n2 120 tea\n"),
    ("orders/tuesday.txt", "1 250 apple pie\n"),
    (
        "test.sh",
        "\
# Checks the totals; the exit code is the number of checks that failed.
failed=0
check() {
    found=$(sh src/total.sh \"orders/$1.txt\")
    if [ \"$found\" = \"$2\" ]; then
        echo \"ok    $1: $2\"
    else
        echo \"FAIL  $1: expected $2, found $found (src/total.sh)\"
        failed=$((failed + 1))
    fi
}
check monday 990
check tuesday 250
exit $failed
",
    ),
];

/// Writes it into `folder`, which exists; returns the task's prompt and the two exact commands it needs.
pub fn write(folder: &Path) -> io::Result<(String, [String; 2])> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok((PROMPT.to_string(), COMMANDS.map(str::to_string)))
}
