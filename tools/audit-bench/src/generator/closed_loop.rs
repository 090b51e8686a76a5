//! Closed-loop load: many non-blocking connections on one thread, each sending its next request once the previous
//! response is complete, and, if the job has a rate, once a request is due.

use super::job::{ClosedLoopJob, ClosedLoopReport, End, Traffic, Window};
use super::response::{self, Response};
use crate::latency::Latencies;
use crate::machine::{cpu_seconds, now_ms};
use crate::workload::{Bodies, Random};
use anyhow::{Context, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Registry, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A slower response fails the run.
const RESPONSE_SECONDS_MAX: u64 = 60;
const READ_BYTES: usize = 16_384;
/// Interval at which an idle loop checks for the end of the job.
const POLL_MS: u64 = 50;

/// Runs the job.
pub(crate) fn run(job: &ClosedLoopJob) -> anyhow::Result<ClosedLoopReport> {
    if job.addresses.is_empty() || job.project_keys.is_empty() {
        bail!("the job names no address or no project key");
    }
    let mut poll = Poll::new()?;
    let mut closed_loop = ClosedLoop::new(job);
    let mut clients = Vec::with_capacity(job.connections);
    for index in 0..job.connections {
        clients.push(closed_loop.connect(poll.registry(), Token(index))?);
    }
    closed_loop.began = Instant::now();
    closed_loop.due = closed_loop.began;
    closed_loop.start_requests(&mut clients, poll.registry())?;
    let mut events = Events::with_capacity(1_024);
    while clients.iter().any(|client| client.is_waiting) || !closed_loop.is_over(Instant::now()) {
        match poll.poll(&mut events, Some(closed_loop.poll_timeout(&clients))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            outcome => outcome?,
        }
        closed_loop.tick(&clients)?;
        for event in &events {
            let client = &mut clients[event.token().0];
            if event.is_writable() {
                closed_loop.send(client, poll.registry())?;
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                closed_loop.receive(client, poll.registry())?;
            }
        }
        closed_loop.start_requests(&mut clients, poll.registry())?;
    }
    Ok(closed_loop.finish())
}

struct Client {
    stream: TcpStream,
    token: Token,
    address: SocketAddr,
    request: Vec<u8>,
    sent_bytes: usize,
    response: Vec<u8>,
    /// When the pending request was sent, or was due.
    sent: Instant,
    /// Whether a request is pending.
    is_waiting: bool,
}

struct ClosedLoop<'a> {
    job: &'a ClosedLoopJob,
    /// Request line, and the type of the body where there is one.
    line: &'static str,
    /// Chooses the project key of each request.
    random: Random,
    bodies: Option<Bodies>,
    buffer: Vec<u8>,
    began: Instant,
    /// When the next request is due, if the job has an interval.
    due: Instant,
    /// Start of the measured time, and CPU time of this process then; none during the warm-up.
    measuring: Option<(Instant, Option<f64>)>,
    /// When the last measured request ended.
    ended: Instant,
    /// When requests were last checked for a timeout.
    timeouts_checked: Instant,
    latencies: Latencies,
    report: ClosedLoopReport,
    events_sent: u64,
}

impl<'a> ClosedLoop<'a> {
    fn new(job: &'a ClosedLoopJob) -> Self {
        let (line, bodies) = match &job.traffic {
            Traffic::Health => ("GET /healthz HTTP/1.1\r\n", None),
            Traffic::Events(options) => (
                "POST /api/v1/events HTTP/1.1\r\nContent-Type: application/json\r\n",
                Some(Bodies::new(options.clone())),
            ),
        };
        let now = Instant::now();
        Self {
            job,
            line,
            random: Random::new(2_026),
            bodies,
            buffer: vec![0; READ_BYTES],
            began: now,
            due: now,
            measuring: None,
            ended: now,
            timeouts_checked: now,
            latencies: Latencies::default(),
            report: ClosedLoopReport::default(),
            events_sent: 0,
        }
    }

    fn connect(&self, registry: &Registry, token: Token) -> anyhow::Result<Client> {
        let address = self.job.addresses[token.0 % self.job.addresses.len()];
        let stream =
            std::net::TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let expected = self.bodies.as_ref().map_or(0, Bodies::bytes_expected);
        Ok(Client {
            stream,
            token,
            address,
            request: Vec::with_capacity(512 + expected),
            sent_bytes: 0,
            response: Vec::with_capacity(READ_BYTES),
            sent: Instant::now(),
            is_waiting: false,
        })
    }

    /// Sends the due requests with the clients that have no pending one.
    fn start_requests(&mut self, clients: &mut [Client], registry: &Registry) -> anyhow::Result<()> {
        for client in clients.iter_mut().filter(|client| !client.is_waiting) {
            self.next_request(client)?;
            if !client.is_waiting {
                break;
            }
            self.send(client, registry)?;
        }
        Ok(())
    }

    /// When the next request was due; none if it is due later, or if the job has ended.
    fn take_due(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if self.is_over(now) {
            return None;
        }
        let Some(interval_ns) = self.job.interval_ns else {
            return Some(now);
        };
        let due = self.due;
        (due <= now).then(|| {
            self.due += Duration::from_nanos(interval_ns);
            due
        })
    }

    /// How long to wait for responses: at most until a request is due for which there is a connection.
    fn poll_timeout(&self, clients: &[Client]) -> Duration {
        let longest = Duration::from_millis(POLL_MS);
        let now = Instant::now();
        if self.job.interval_ns.is_none()
            || self.is_over(now)
            || clients.iter().all(|client| client.is_waiting)
        {
            return longest;
        }
        longest.min(self.due.saturating_duration_since(now))
    }

    /// Prepares the next request of a client, if one is due.
    fn next_request(&mut self, client: &mut Client) -> anyhow::Result<()> {
        let due = self.take_due();
        client.is_waiting = due.is_some();
        let Some(due) = due else {
            return Ok(());
        };
        client.request.clear();
        client.sent_bytes = 0;
        client.request.extend_from_slice(self.line.as_bytes());
        write!(&mut client.request, "Host: {}\r\n", client.address)?;
        match &mut self.bodies {
            None => client.request.extend_from_slice(b"\r\n"),
            Some(bodies) => {
                let keys = &self.job.project_keys;
                let key = &keys[self.random.below(keys.len() as u64) as usize];
                write!(&mut client.request, "Authorization: Bearer {key}\r\n")?;
                // Content-Length precedes the body, so its digits are filled in once the body is written.
                const LENGTH_LINE: &str = "Content-Length: 0000000\r\n\r\n";
                let length_at = client.request.len() + "Content-Length: ".len();
                client.request.extend_from_slice(LENGTH_LINE.as_bytes());
                let body_at = client.request.len();
                bodies.write(now_ms(), &mut client.request);
                let length = client.request.len() - body_at;
                write!(&mut client.request[length_at..length_at + 7], "{length:07}")?;
                self.events_sent += bodies.batch() as u64;
            }
        }
        client.sent = match self.job.interval_ns {
            Some(_) => due,
            None => Instant::now(),
        };
        Ok(())
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.job.end {
            End::AfterEvents(events) => self.events_sent >= events,
            End::AfterMs {
                warm_up_ms,
                measured_ms,
            } => now.duration_since(self.began) >= Duration::from_millis(warm_up_ms + measured_ms),
        }
    }

    fn send(&mut self, client: &mut Client, registry: &Registry) -> anyhow::Result<()> {
        while client.is_waiting && client.sent_bytes < client.request.len() {
            match client.stream.write(&client.request[client.sent_bytes..]) {
                Ok(bytes) => client.sent_bytes += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // An overloaded service may respond and close before it has read the whole request.
                Err(error) if self.job.counts_errors && is_disconnect(&error) => {
                    return self.receive(client, registry);
                }
                Err(error) => return Err(error).context("cannot send a request"),
            }
        }
        Ok(())
    }

    fn receive(&mut self, client: &mut Client, registry: &Registry) -> anyhow::Result<()> {
        loop {
            let bytes = match client.stream.read(&mut self.buffer) {
                Ok(0) => return self.reconnect(client, registry),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_disconnect(&error) => return self.reconnect(client, registry),
                Err(error) => return Err(error).context("cannot read a response"),
            };
            client.response.extend_from_slice(&self.buffer[..bytes]);
            if let Some(response) = response::parse(&client.response)?
                && client.response.len() >= response.bytes()
            {
                self.record(client, &response)?;
                client.response.drain(..response.bytes());
                self.next_request(client)?;
                self.send(client, registry)?;
            }
            // A short read has emptied the socket; more data raises another event.
            if bytes < self.buffer.len() {
                return Ok(());
            }
        }
    }

    /// Replaces a connection that the service closed, which it may do under overload only.
    fn reconnect(&mut self, client: &mut Client, registry: &Registry) -> anyhow::Result<()> {
        if !self.job.counts_errors {
            bail!("the service closed a connection with a pending request");
        }
        if !client.is_waiting {
            return Ok(());
        }
        if self.measuring.is_some() {
            self.report.closed_connections += 1;
        }
        registry.deregister(&mut client.stream)?;
        let fresh = self.connect(registry, client.token)?;
        *client = fresh;
        self.next_request(client)?;
        self.send(client, registry)
    }

    /// Counts a response, and fails on one that the job does not allow.
    fn record(&mut self, client: &Client, response: &Response) -> anyhow::Result<()> {
        let now = Instant::now();
        let body = response.body(&client.response);
        let events = match (response.status, &self.bodies) {
            (200, None) => 0,
            (201, Some(bodies)) => {
                let stored = response::count(body, b"\"evt_");
                if stored != bodies.batch() || response::count(body, b"\"repeated_count\"") > 0 {
                    bail!("not all events were stored: {}", String::from_utf8_lossy(body));
                }
                stored as u64
            }
            (status, Some(_)) if status == 503 || self.job.counts_errors => {
                *self.report.errors.entry(status).or_default() += u64::from(self.measuring.is_some());
                return Ok(());
            }
            (status, _) => bail!("unexpected status {status}: {}", String::from_utf8_lossy(body)),
        };
        self.report.events_stored += events;
        if self.measuring.is_some() && !self.is_past_the_end(now) {
            self.latencies.add(now.duration_since(client.sent));
            self.report.requests += 1;
            self.report.events += events;
            self.ended = now;
        }
        self.record_window(now);
        Ok(())
    }

    fn record_window(&mut self, now: Instant) {
        let Some(window) = self.job.window_events else {
            return;
        };
        let before = self.report.windows.last().map_or(0, |last| last.events);
        if self.report.events_stored >= before + window {
            self.report.windows.push(Window {
                events: self.report.events_stored,
                seconds: now.duration_since(self.began).as_secs_f64(),
            });
        }
    }

    /// Responses after the measured time are awaited, but not counted.
    fn is_past_the_end(&self, now: Instant) -> bool {
        matches!(self.job.end, End::AfterMs { .. }) && self.is_over(now)
    }

    /// Starts the measured time after the warm-up, and fails on a request without a response.
    fn tick(&mut self, clients: &[Client]) -> anyhow::Result<()> {
        let now = Instant::now();
        if self.measuring.is_none() {
            let warm_up_ms = match self.job.end {
                End::AfterMs { warm_up_ms, .. } => warm_up_ms,
                End::AfterEvents(_) => 0,
            };
            let start = self.began + Duration::from_millis(warm_up_ms);
            if now >= start {
                let start = if warm_up_ms == 0 { self.began } else { now };
                self.measuring = Some((start, cpu_seconds(std::process::id())));
            }
        }
        if now.duration_since(self.timeouts_checked) < Duration::from_secs(1) {
            return Ok(());
        }
        self.timeouts_checked = now;
        let timeout = Duration::from_secs(RESPONSE_SECONDS_MAX);
        let is_late = |client: &Client| client.is_waiting && now.duration_since(client.sent) > timeout;
        if clients.iter().any(is_late) {
            bail!("no response within {RESPONSE_SECONDS_MAX} s");
        }
        Ok(())
    }

    fn finish(mut self) -> ClosedLoopReport {
        let (start, cpu_before) = self.measuring.unwrap_or((self.began, None));
        self.report.seconds = match self.job.end {
            // Neither responses after the end nor the time until they arrived count.
            End::AfterMs {
                warm_up_ms,
                measured_ms,
            } => {
                let end = self.began + Duration::from_millis(warm_up_ms + measured_ms);
                end.saturating_duration_since(start).as_secs_f64()
            }
            End::AfterEvents(_) => self.ended.duration_since(start).as_secs_f64(),
        };
        let cpu = cpu_seconds(std::process::id());
        self.report.generator_cpu_seconds = cpu.zip(cpu_before).map(|(after, before)| after - before);
        self.report.latency = self.latencies.summary();
        if let Traffic::Events(options) = &self.job.traffic {
            self.report.next_number = options.first_number + self.events_sent;
        }
        self.report
    }
}

fn is_disconnect(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests;
