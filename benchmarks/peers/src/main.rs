//! Reachability kept by differential dataflow while links come and go.
//!
//! `imp-peer [FILE]` reads changes from a file, or from standard input, one a line:
//!
//! ```text
//! + 1 2      the link from node 1 to node 2 comes; links are a multiset
//! - 1 2      one copy of it goes
//! commit     all lines since the last commit are one change
//! ```
//!
//! After each commit it prints `commit MICROSECONDS CHANGES PAIRS FINGERPRINT`: the time from the first of its lines given to the
//! dataflow until the pairs are again those of the links, how many pairs came or went, how many there are, and the sum of their
//! hashes. At the end it prints `end PAIRS FINGERPRINT`. Reading and parsing are no part of the time. One worker, in this thread.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use differential_dataflow::input::InputSession;
use differential_dataflow::lattice::Lattice;
use differential_dataflow::operators::iterate::Variable;
use differential_dataflow::VecCollection;
use timely::dataflow::operators::probe::Handle;
use timely::order::Product;
use timely::progress::Timestamp;
use timely::worker::Worker;

type Pair = (u32, u32);

/// What the consumer of the view sees of it: no more than it needs to be compared.
#[derive(Default)]
struct Seen {
    changes: u64,
    pairs: i64,
    fingerprint: u64,
}

impl Seen {
    fn take(&mut self, pair: Pair, weight: isize) {
        self.changes += weight.unsigned_abs() as u64;
        self.pairs += weight as i64;
        self.fingerprint = self.fingerprint.wrapping_add(hash(pair).wrapping_mul(weight as u64));
    }
}

/// The finalizer of splitmix64 over the two halves of a word; `fingerprint` of the Python side is the same.
fn hash((source, target): Pair) -> u64 {
    let mut word = ((source as u64) << 32 | target as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// reachable(x, y) :- link(x, y). reachable(x, y) :- link(x, z), reachable(z, y).
fn reachable<T: Timestamp + Lattice + Ord>(links: VecCollection<T, Pair>) -> VecCollection<T, Pair> {
    let outer = links.inner.scope();
    let by_target = links.clone().map(|(source, target)| (target, source)).arrange_by_key();
    outer.iterative::<u64, _, _>(|inner| {
        let (variable, pairs) = Variable::new(inner, Product::new(Default::default(), 1));
        let longer = by_target.enter(inner).join_core(pairs.arrange_by_key(), |_, source, target| Some((*source, *target)));
        let every = longer.concat(links.enter(inner)).distinct();
        variable.set(every.clone());
        every.leave(outer)
    })
}

/// The dataflow with its input, and what comes out of it.
struct View {
    links: InputSession<u64, Pair, isize>,
    probe: Handle<u64>,
    seen: Rc<RefCell<Seen>>,
}

impl View {
    fn new(worker: &mut Worker) -> View {
        let mut links = InputSession::new();
        let probe = Handle::new();
        let seen = Rc::new(RefCell::new(Seen::default()));
        let inside = Rc::clone(&seen);
        worker.dataflow(|scope| {
            // Inside the loop a pair may come in one round and go in another; outside both cancel, and no consumer is told of it.
            reachable(links.to_collection(scope))
                .consolidate()
                .inspect(move |(pair, _, weight)| inside.borrow_mut().take(*pair, *weight))
                .probe_with(&probe);
        });
        View { links, probe, seen }
    }

    /// Bring the pairs up to a change; return how long that took, in microseconds.
    fn commit(&mut self, worker: &mut Worker, change: &[(Pair, isize)]) -> u128 {
        self.seen.borrow_mut().changes = 0;
        let begin = Instant::now();
        for (link, weight) in change {
            self.links.update(*link, *weight);
        }
        self.links.advance_to(self.links.time() + 1);
        self.links.flush();
        worker.step_while(|| self.probe.less_than(self.links.time()));
        begin.elapsed().as_micros()
    }
}

/// One line of a change; None where it is none.
fn parsed(line: &str) -> Option<(Pair, isize)> {
    let mut words = line.split_ascii_whitespace();
    let weight = match words.next()? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let pair = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some((pair, weight))
}

fn follow(worker: &mut Worker, lines: impl BufRead) -> io::Result<()> {
    let mut view = View::new(worker);
    let mut change = Vec::new();
    let mut output = io::stdout().lock();
    for line in lines.lines() {
        let line = line?;
        if line.trim() == "commit" {
            let microseconds = view.commit(worker, &change);
            change.clear();
            let seen = view.seen.borrow();
            writeln!(output, "commit {microseconds} {} {} {}", seen.changes, seen.pairs, seen.fingerprint)?;
            output.flush()?;
        } else if let Some(each) = parsed(&line) {
            change.push(each);
        } else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("neither a link nor a commit: {line:?}")));
        }
    }
    let seen = view.seen.borrow();
    writeln!(output, "end {} {}", seen.pairs, seen.fingerprint)
}

fn main() -> ExitCode {
    let file = std::env::args().nth(1);
    let ended = timely::execute_directly(move |worker| match file {
        Some(path) => File::open(path).and_then(|file| follow(worker, BufReader::new(file))),
        None => follow(worker, io::stdin().lock()),
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("imp-peer: {error}");
            ExitCode::FAILURE
        }
    }
}
