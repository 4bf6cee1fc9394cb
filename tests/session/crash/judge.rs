//! Whether what a crash has left is a session that has lost nothing, and every crash that there could be.
//!
//! A state passes if each session is not there and was never promised, or opens at a generation that is at least the promised one, with
//! exactly the bytes, records and notices of that generation; if the list has it and no other; and if it can be gone on with and opened
//! again.
//!
//! Where there are few states at a step, all are looked at; where there are many: nothing safe, all safe, each single thing safe or not
//! safe alone, and a seeded sample.
//!
//! Invariant: a state that was judged is not laid out again.

use super::script::{Promise, Promises, Script, Snapshot, Snapshots};
use super::world::{self, Choice, Layout, World};
use crate::session::kit::user;
use crate::support::temp::Temp;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use zcoder::session::{OpenError, SessionId, Store};

/// How much is looked at.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// At a step with at most so many states, all.
    pub(super) all: usize,
    /// At others, so many besides those at the edges.
    pub(super) samples: usize,
}

/// What was looked at.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) steps: usize,
    pub(super) sampled: usize,
    pub(super) states: usize,
}

/// What a session is found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Absent,
    At(u64),
    Broken(String),
}

/// Of the states of one history.
pub(super) struct Judge {
    temp: Temp,
    count: usize,
    verdicts: HashMap<u64, BTreeMap<String, Verdict>>,
    random: u64,
    pub(super) limits: Limits,
}

impl Judge {
    pub(super) fn new(limits: Limits) -> Judge {
        Judge {
            temp: Temp::in_memory(),
            count: 0,
            verdicts: HashMap::new(),
            random: 0x9e37_79b9_7f4a_7c15,
            limits,
        }
    }

    /// States that were laid out.
    pub(super) fn distinct(&self) -> usize {
        self.verdicts.len()
    }

    /// Every crash before, between and behind the steps from `from` on. The error: which one loses what.
    pub(super) fn play(&mut self, script: &Script, from: usize) -> Result<Counts, String> {
        let mut promises = script.promises();
        let mut counts = Counts::default();
        let (mut world, mut done) = (World::of(&script.start), 0);
        loop {
            if done >= from {
                counts.steps += 1;
                let choices = world.choices();
                let (all, values) = self.values(&choices);
                counts.sampled += usize::from(!all);
                for values in values {
                    counts.states += 1;
                    let layout = world.state(&choices, &values);
                    if let Err(why) = self.check(&layout, &script.snapshots, &promises) {
                        let step = script.steps[..done].last();
                        let step = step.map_or("nothing".to_string(), |step| script.told(step));
                        let state = world.told(&choices, &values);
                        return Err(format!("{why} (a crash after `{step}`: {state})"));
                    }
                }
            }
            let Some(step) = script.steps.get(done) else {
                return Ok(counts);
            };
            step.play(&mut world, &mut promises);
            done += 1;
        }
    }

    /// What crashes leave, each once.
    pub(super) fn left(&mut self, script: &Script) -> Vec<Layout> {
        let mut world = World::of(&script.start);
        let mut left = BTreeSet::new();
        for step in &script.steps {
            step.play(&mut world, &mut script.promises());
            let choices = world.choices();
            let values = self.values(&choices).1;
            left.extend(values.iter().map(|values| world.state(&choices, values)));
        }
        left.into_iter().collect()
    }

    /// The values of the choices that are looked at, and whether they are all.
    fn values(&mut self, choices: &[Choice]) -> (bool, Vec<Vec<usize>>) {
        let arity: Vec<usize> = choices.iter().map(Choice::values).collect();
        let number = arity
            .iter()
            .try_fold(1_usize, |number, values| number.checked_mul(*values))
            .filter(|number| *number <= self.limits.all);
        if let Some(number) = number {
            let nth = |mut n: usize| {
                let digit = |values: &usize| {
                    let digit = n % values;
                    n /= values;
                    digit
                };
                arity.iter().map(digit).collect()
            };
            return (true, (0..number).map(nth).collect());
        }
        let all: Vec<usize> = arity.iter().map(|values| values - 1).collect();
        let none = vec![0; arity.len()];
        let mut out = vec![none.clone(), all.clone()];
        for (at, values) in arity.iter().enumerate() {
            for (base, range) in [(&none, 1..*values), (&all, 0..values - 1)] {
                out.extend(range.map(|value| {
                    let mut changed = base.clone();
                    changed[at] = value;
                    changed
                }));
            }
        }
        for _ in 0..self.limits.samples {
            // Some samples have nearly all, some nearly nothing, most are mixed.
            let lean = self.next(4);
            let pick = |values: &usize| match (lean, self.next(4)) {
                (0, 1..) => values - 1,
                (1, 1..) => 0,
                _ => self.next(*values),
            };
            out.push(arity.iter().map(pick).collect());
        }
        let mut seen = HashSet::new();
        out.retain(|values| seen.insert(values.clone()));
        (false, out)
    }

    fn next(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % below
    }

    fn check(
        &mut self,
        layout: &Layout,
        snapshots: &Snapshots,
        promises: &Promises,
    ) -> Result<(), String> {
        let mut hasher = DefaultHasher::new();
        layout.hash(&mut hasher);
        let key = hasher.finish();
        if !self.verdicts.contains_key(&key) {
            let verdicts = self.judged(layout, snapshots);
            self.verdicts.insert(key, verdicts);
        }
        for (id, verdict) in &self.verdicts[&key] {
            match (promises[id], verdict) {
                (_, Verdict::Broken(why)) => return Err(why.clone()),
                (Promise::Kept(promised), Verdict::Absent) => {
                    return Err(format!("generation {promised} is lost: no session"));
                }
                (Promise::Kept(promised) | Promise::Maybe(promised), Verdict::At(found))
                    if *found < promised =>
                {
                    return Err(format!("generation {promised} is lost: it is {found}"));
                }
                (Promise::Gone, Verdict::At(found)) => {
                    return Err(format!("deleted, and there again at {found}"));
                }
                (Promise::Maybe(_) | Promise::Gone, Verdict::Absent)
                | (Promise::Maybe(_) | Promise::Kept(_), Verdict::At(_)) => {}
            }
        }
        Ok(())
    }

    /// Lays a state out and opens what is there.
    fn judged(&mut self, layout: &Layout, snapshots: &Snapshots) -> BTreeMap<String, Verdict> {
        let root = self.temp.path().join(self.count.to_string());
        self.count += 1;
        fs::create_dir(&root).expect("a folder");
        world::write(&root, layout);
        let store = Store::new(&root, Path::new("/home/me/app"));
        let listed = store.list();
        let mut verdicts = BTreeMap::new();
        for (id, snapshots) in snapshots {
            let found = verdict(&store, &SessionId(id.clone()), snapshots);
            let damaged = !snapshots[0].notices.is_empty();
            let is_listed = listed.as_ref().is_ok_and(|listed| {
                let mut all = listed.iter();
                all.any(|listed| listed.id.0 == *id && listed.damaged <= damaged)
            });
            let agreed = match &found {
                Verdict::Absent => !is_listed,
                Verdict::At(_) => is_listed,
                Verdict::Broken(_) => true,
            };
            let found = match agreed {
                true => found,
                false => Verdict::Broken(format!("{found:?}, and the list says {listed:?}")),
            };
            verdicts.insert(id.clone(), found);
        }
        fs::remove_dir_all(&root).expect("removed");
        verdicts
    }
}

fn verdict(store: &Store, id: &SessionId, snapshots: &[Snapshot]) -> Verdict {
    let opened = match store.open(id) {
        Ok(opened) => opened,
        Err(OpenError::None { .. }) => return Verdict::Absent,
        Err(error) => return Verdict::Broken(format!("it does not open: {error}")),
    };
    let mut log = opened.log;
    let folder = store.folder().join(&id.0);
    let generation = log.generation();
    let Some(snapshot) = snapshots
        .iter()
        .find(|snapshot| snapshot.generation == generation)
    else {
        return Verdict::Broken(format!("there never was a generation {generation}"));
    };
    if opened.notices != snapshot.notices {
        let told: Vec<String> = opened.notices.iter().map(ToString::to_string).collect();
        return Verdict::Broken(format!("it is damaged: {}", told.join("; ")));
    }
    if log.records()[..log.saved()] != snapshot.records || !snapshot.is_in(&folder) {
        return Verdict::Broken(format!("generation {generation} has other records"));
    }
    log.append(user("after the crash"));
    if let Err(error) = log.commit() {
        return Verdict::Broken(format!("it cannot be gone on with: {error}"));
    }
    match store.open(id) {
        Ok(again)
            if again.log.records() == log.records() && again.log.generation() == generation + 1 =>
        {
            Verdict::At(generation)
        }
        Ok(_) => Verdict::Broken("what was appended after the crash is not there".to_string()),
        Err(error) => Verdict::Broken(format!("it does not open again: {error}")),
    }
}
