//! Many connections on one thread, without blocking: each sends its next request as soon as the last one is answered.

use super::answer::{self, Answer};
use super::order::{End, FloodOrder, FloodReport, Traffic, Window};
use crate::latency::Latencies;
use crate::machine::{cpu_seconds, now_ms};
use crate::workload::Bodies;
use anyhow::{Context, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Registry, Token};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// An answer that takes longer is a fault of the service.
const ANSWER_SECONDS_MAX: u64 = 60;
const READ_BYTES: usize = 16_384;
/// How often the loop looks whether time is over when nothing happens.
const POLL_MS: u64 = 50;

/// Carries out the order.
pub(crate) fn flood(order: &FloodOrder) -> anyhow::Result<FloodReport> {
    let mut poll = Poll::new()?;
    let mut flood = Flood::new(order)?;
    let mut clients = Vec::with_capacity(order.connections);
    for index in 0..order.connections {
        clients.push(flood.connect(poll.registry(), Token(index))?);
    }
    flood.began = Instant::now();
    for client in &mut clients {
        flood.next_request(client)?;
        flood.send(client, poll.registry())?;
    }
    let mut events = Events::with_capacity(1_024);
    while clients.iter().any(|client| client.is_waiting) {
        match poll.poll(&mut events, Some(Duration::from_millis(POLL_MS))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            outcome => outcome?,
        }
        flood.progress(&clients)?;
        for event in &events {
            let client = &mut clients[event.token().0];
            if event.is_writable() {
                flood.send(client, poll.registry())?;
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                flood.receive(client, poll.registry())?;
            }
        }
    }
    Ok(flood.finish())
}

struct Client {
    stream: TcpStream,
    token: Token,
    request: Vec<u8>,
    sent_bytes: usize,
    answer: Vec<u8>,
    /// When the request that is not answered yet was sent.
    asked: Instant,
    is_waiting: bool,
}

struct Flood<'a> {
    order: &'a FloodOrder,
    head: String,
    bodies: Option<Bodies>,
    buffer: Vec<u8>,
    began: Instant,
    /// When measuring began; none while warming up.
    measuring: Option<(Instant, Option<f64>)>,
    /// When the last measured request ended.
    ended: Instant,
    /// When somebody last looked for requests that take too long.
    looked: Instant,
    latencies: Latencies,
    report: FloodReport,
    events_sent: u64,
}

impl<'a> Flood<'a> {
    fn new(order: &'a FloodOrder) -> anyhow::Result<Self> {
        let (line, bodies) = match &order.traffic {
            Traffic::Health => ("GET /healthz", None),
            Traffic::Events(options) => ("POST /api/v1/events", Some(Bodies::new(options.clone()))),
        };
        let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\n", order.address);
        if bodies.is_some() {
            head += &format!(
                "Authorization: Bearer {}\r\nContent-Type: application/json\r\n",
                order.project_key
            );
        }
        let now = Instant::now();
        Ok(Self {
            order,
            head,
            bodies,
            buffer: vec![0; READ_BYTES],
            began: now,
            measuring: None,
            ended: now,
            looked: now,
            latencies: Latencies::default(),
            report: FloodReport::default(),
            events_sent: 0,
        })
    }

    fn connect(&self, registry: &Registry, token: Token) -> anyhow::Result<Client> {
        let stream = std::net::TcpStream::connect(self.order.address)
            .with_context(|| format!("cannot connect to {}", self.order.address))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let expected = self.bodies.as_ref().map_or(0, Bodies::bytes_expected);
        Ok(Client {
            stream,
            token,
            request: Vec::with_capacity(self.head.len() + 64 + expected),
            sent_bytes: 0,
            answer: Vec::with_capacity(READ_BYTES),
            asked: Instant::now(),
            is_waiting: false,
        })
    }

    /// Prepares the next request of a client, unless enough has been sent.
    fn next_request(&mut self, client: &mut Client) -> anyhow::Result<()> {
        let now = Instant::now();
        client.is_waiting = !self.is_over(now);
        if !client.is_waiting {
            return Ok(());
        }
        client.request.clear();
        client.sent_bytes = 0;
        client.request.extend_from_slice(self.head.as_bytes());
        match &mut self.bodies {
            None => client.request.extend_from_slice(b"\r\n"),
            Some(bodies) => {
                // The body follows a head that says its length, so it is written behind room for that.
                const ROOM: &str = "Content-Length: 0000000\r\n\r\n";
                let length_at = client.request.len() + "Content-Length: ".len();
                client.request.extend_from_slice(ROOM.as_bytes());
                let body_at = client.request.len();
                bodies.write(now_ms(), &mut client.request);
                let length = client.request.len() - body_at;
                write!(&mut client.request[length_at..length_at + 7], "{length:07}")?;
                self.events_sent += bodies.batch() as u64;
            }
        }
        client.asked = Instant::now();
        Ok(())
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.order.end {
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
                // There may be an answer nevertheless: a service that is overloaded answers without reading all.
                Err(error) if self.order.is_overload && is_hang_up(&error) => {
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
                Err(error) if is_hang_up(&error) => return self.reconnect(client, registry),
                Err(error) => return Err(error).context("cannot read an answer"),
            };
            client.answer.extend_from_slice(&self.buffer[..bytes]);
            if let Some(answer) = answer::parse(&client.answer)?
                && client.answer.len() >= answer.bytes()
            {
                self.answered(client, &answer)?;
                client.answer.drain(..answer.bytes());
                self.next_request(client)?;
                self.send(client, registry)?;
            }
            // A short read has emptied the socket; what comes later is an event of its own.
            if bytes < self.buffer.len() {
                return Ok(());
            }
        }
    }

    /// The service hung up. Only under overload it may.
    fn reconnect(&mut self, client: &mut Client, registry: &Registry) -> anyhow::Result<()> {
        if !self.order.is_overload {
            bail!("the service closed a connection that was waiting for an answer");
        }
        if !client.is_waiting {
            return Ok(());
        }
        if self.measuring.is_some() {
            self.report.broken += 1;
        }
        registry.deregister(&mut client.stream)?;
        let fresh = self.connect(registry, client.token)?;
        *client = fresh;
        self.next_request(client)?;
        self.send(client, registry)
    }

    /// Takes note of an answer, and refuses one that should not be.
    fn answered(&mut self, client: &Client, answer: &Answer) -> anyhow::Result<()> {
        let now = Instant::now();
        let body = answer.body(&client.answer);
        let events = match (answer.status, &self.bodies) {
            (200, None) => 0,
            (201, Some(bodies)) => {
                let stored = answer::count(body, b"\"evt_");
                if stored != bodies.batch() || answer::count(body, b"\"repeated_count\"") > 0 {
                    bail!("not all events were stored: {}", String::from_utf8_lossy(body));
                }
                stored as u64
            }
            (status, Some(_)) if status == 503 || self.order.is_overload => {
                *self.report.refused.entry(status).or_default() += u64::from(self.measuring.is_some());
                return Ok(());
            }
            (status, _) => bail!("unexpected answer {status}: {}", String::from_utf8_lossy(body)),
        };
        self.report.events_stored += events;
        if self.measuring.is_some() && !self.is_past_the_end(now) {
            self.latencies.add(now.duration_since(client.asked));
            self.report.requests += 1;
            self.report.events += events;
            self.ended = now;
        }
        if let Some(window) = self.order.window_events {
            let before = self.report.windows.last().map_or(0, |last| last.events);
            if self.report.events_stored >= before + window {
                self.report.windows.push(Window {
                    events: self.report.events_stored,
                    seconds: now.duration_since(self.began).as_secs_f64(),
                });
            }
        }
        Ok(())
    }

    /// Answers that come after the measured time are waited for and not counted.
    fn is_past_the_end(&self, now: Instant) -> bool {
        matches!(self.order.end, End::AfterMs { .. }) && self.is_over(now)
    }

    /// Begins to measure when it is time, and gives up on a service that does not answer.
    fn progress(&mut self, clients: &[Client]) -> anyhow::Result<()> {
        let now = Instant::now();
        if self.measuring.is_none() {
            let warm_up_ms = match self.order.end {
                End::AfterMs { warm_up_ms, .. } => warm_up_ms,
                End::AfterEvents(_) => 0,
            };
            let start = self.began + Duration::from_millis(warm_up_ms);
            if now >= start {
                let start = if warm_up_ms == 0 { self.began } else { now };
                self.measuring = Some((start, cpu_seconds(std::process::id())));
            }
        }
        if now.duration_since(self.looked) < Duration::from_secs(1) {
            return Ok(());
        }
        self.looked = now;
        let patience = Duration::from_secs(ANSWER_SECONDS_MAX);
        let is_late = |client: &Client| client.is_waiting && now.duration_since(client.asked) > patience;
        if clients.iter().any(is_late) {
            bail!("no answer within {ANSWER_SECONDS_MAX} s");
        }
        Ok(())
    }

    fn finish(mut self) -> FloodReport {
        let (start, cpu_before) = self.measuring.unwrap_or((self.began, None));
        self.report.seconds = match self.order.end {
            // What was answered after the end is not counted, nor is the time it took.
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
        if let Traffic::Events(options) = &self.order.traffic {
            self.report.next_number = options.first_number + self.events_sent;
        }
        self.report
    }
}

fn is_hang_up(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests;
