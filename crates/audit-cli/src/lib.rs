//! What the programs of the service share: printing, files with a bound, an HTTP client that repeats requests, and the clock and
//! randomness of the system, which every other crate takes as arguments.

pub mod client;
pub mod logging;
mod print;
mod progress;
mod retry;
pub mod small_file;
mod system;
pub mod testing;

pub use print::{is_broken_pipe, name_program, name_variables, print_error, printable, printable_lines};
pub use progress::over_events;
pub use retry::LOG_INCONSISTENT;
pub use system::{SystemClock, SystemEntropy, make_files_private};
