//! The Rust ingester against Varve: rows one request each, in a stream, in bulk; read back by Arrow Flight. Prints a line a check.

mod bulk;
mod read;
mod rows;
mod sign_in;

use std::future::Future;
use std::time::Duration;

use greptimedb_ingester::client::Client;
use greptimedb_ingester::database::Database;

pub type Outcome = Result<(), String>;

/// Longest time of a check.
const CHECK_SECONDS_MAX: u64 = 30;

/// Prints `ok NAME`, or `FAIL NAME: why`.
pub async fn check(name: &str, work: impl Future<Output = Outcome>) {
    let outcome = tokio::time::timeout(Duration::from_secs(CHECK_SECONDS_MAX), work).await;
    match outcome.unwrap_or_else(|_| Err(format!("no end after {CHECK_SECONDS_MAX} s"))) {
        Ok(()) => println!("ok {name}"),
        Err(why) => println!(
            "FAIL {name}: {:.400}",
            why.split_whitespace().collect::<Vec<_>>().join(" ")
        ),
    }
}

/// An error as a text.
pub fn said<E: std::fmt::Debug>(error: E) -> String {
    format!("{error:?}")
}

pub fn expect(holds: bool, why: impl std::fmt::Debug) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(format!("{why:?}"))
    }
}

pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Where a server listens: the one without accounts, or the one with them.
pub fn address(name: &str) -> String {
    format!("127.0.0.1:{}", env(name))
}

/// The server without accounts.
pub fn client() -> Client {
    Client::with_urls(vec![address("VARVE_GRPC")])
}

pub fn database() -> Database {
    Database::new_with_dbname("public", client())
}

#[tokio::main]
async fn main() {
    rows::run().await;
    bulk::run().await;
    sign_in::run().await;
    println!("done");
}
