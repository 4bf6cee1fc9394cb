//! The harness: rates of the same work done in several ways, in one run.
//!
//! Single figures move by a third on a busy machine, ratios within one run much less. So the cases of a comparison take turns, pass by
//! pass, the median of each counts, and every rate is shown with its ratio to the first case, a bound no parser can pass.
//!
//! ```text
//! json: records of a stream, 2.5 MB               median      best   ratio of medians
//!   from_utf8 over the same bytes                   7355      8213   1.000
//!   record to content                                893       935   0.121
//! ```

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How long a run may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Once through everything, for CI: it shows that the benchmarks run, its figures mean little.
    Smoke,
    /// A few passes, for work that takes a large part of a second.
    Long,
    /// Enough passes for medians that hold.
    Full,
}

impl Effort {
    fn passes(self) -> usize {
        match self {
            Effort::Smoke => 3,
            Effort::Long => 9,
            Effort::Full => 99,
        }
    }

    /// A pass repeats its work until so much time is over, so that small inputs are measured as well as big ones.
    fn pass_time(self) -> Duration {
        match self {
            Effort::Smoke => Duration::from_micros(200),
            Effort::Long | Effort::Full => Duration::from_millis(1),
        }
    }

    /// Bytes of a generated corpus.
    pub(crate) fn corpus_bytes(self) -> usize {
        match self {
            Effort::Smoke => 200_000,
            Effort::Long | Effort::Full => 2_500_000,
        }
    }
}

/// One way to do the work. Its result is only used so that the work is not optimized away.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) work: Box<dyn FnMut() -> usize + 'a>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(name: &'a str, work: impl FnMut() -> usize + 'a) -> Case<'a> {
        Case {
            name,
            work: Box::new(work),
        }
    }
}

/// Runs the cases in turn and prints their rates over `bytes`, each with its ratio to the first.
pub(crate) fn compare(
    out: &mut dyn Write,
    effort: Effort,
    title: &str,
    bytes: usize,
    cases: &mut [Case<'_>],
) -> io::Result<()> {
    let mut rates = vec![Vec::new(); cases.len()];
    // The first pass warms caches and is thrown away.
    for pass in 0..=effort.passes() {
        for (case, rates) in cases.iter_mut().zip(&mut rates) {
            let rate = rate(case, bytes, effort.pass_time());
            if pass > 0 {
                rates.push(rate);
            }
        }
    }
    let title = format!("{title}, {:.1} MB", bytes as f64 / 1e6);
    writeln!(out, "{title:<46}{:>8}{:>10}  ratio", "median", "best MB/s")?;
    let baseline = median(&mut rates[0]);
    for (case, rates) in cases.iter().zip(&mut rates) {
        let rate = median(rates);
        let ratio = rate / baseline;
        let best = rates.last().copied().unwrap_or(rate);
        writeln!(
            out,
            "  {:<44}{rate:>8.0}{best:>10.0}{ratio:>7.3}",
            case.name
        )?;
    }
    Ok(())
}

/// MB/s of one pass.
fn rate(case: &mut Case<'_>, bytes: usize, pass_time: Duration) -> f64 {
    let begin = Instant::now();
    let mut rounds = 0;
    loop {
        black_box((case.work)());
        rounds += 1;
        let spent = begin.elapsed();
        if spent >= pass_time {
            return (bytes * rounds) as f64 / 1e6 / spent.as_secs_f64();
        }
    }
}

/// Peak memory of a running process in MiB (Linux).
pub(crate) fn peak_mib(process: &str) -> io::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = kib.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    Ok(kib.unwrap_or(0.0) / 1024.0)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A fixed sequence of numbers that look random, for corpora that are the same on every machine.
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // Knuth's MMIX generator; the upper bits are the good ones.
        let next = self.0.wrapping_mul(6364136223846793005);
        self.0 = next.wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    /// One of `choices`.
    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}
