//! Rust's drivers against Varve: tokio-postgres, and sqlx for both. Prints a line a check.

mod sqlx_mysql;
mod sqlx_postgres;
mod tokio_pg;
mod values;

use std::future::Future;
use std::time::Duration;

pub type Outcome = Result<(), String>;

/// Longest time of a check.
const CHECK_SECONDS_MAX: u64 = 30;

/// Prints `ok NAME`, or `FAIL NAME: why`.
pub async fn check(name: &str, work: impl Future<Output = Outcome>) {
    let outcome = tokio::time::timeout(Duration::from_secs(CHECK_SECONDS_MAX), work).await;
    match outcome.unwrap_or_else(|_| Err(format!("no end after {CHECK_SECONDS_MAX} s"))) {
        Ok(()) => println!("ok {name}"),
        Err(why) => println!("FAIL {name}: {:.400}", why.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// An error as a text.
pub fn said<E: std::fmt::Debug>(error: E) -> String {
    format!("{error:?}")
}

pub fn expect(holds: bool, why: impl std::fmt::Debug) -> Outcome {
    if holds { Ok(()) } else { Err(format!("{why:?}")) }
}

pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

#[tokio::main]
async fn main() {
    let shared = values::Shared::load(&env("VARVE_VALUES"));
    tokio_pg::run(&shared).await;
    sqlx_postgres::run(&shared).await;
    sqlx_mysql::run(&shared).await;
    println!("done");
}
