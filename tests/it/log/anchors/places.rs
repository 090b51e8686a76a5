//! Places for anchors: an HTTP server that plays a bucket or a time-stamp authority. The bucket verifies signatures by the text
//! of the specification (AWS Signature Version 4, in query strings); the authority is OpenSSL.

use audit_tests::temporary_directory;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) const REGION: &str = "eu-central-1";
pub(crate) const ACCESS_KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// A request.
struct Asked {
    method: String,
    path: String,
    query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Serves each connection for one request.
fn serve(respond: impl Fn(&Asked) -> (u16, Vec<u8>) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen on a free port");
    let address = listener.local_addr().expect("the address of a listener");
    let respond = Arc::new(respond);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, respond) = (stream.expect("accept a connection"), Arc::clone(&respond));
            thread::spawn(move || response(stream, respond.as_ref()));
        }
    });
    address
}

/// The client may go at any time.
fn response(stream: TcpStream, respond: &dyn Fn(&Asked) -> (u16, Vec<u8>)) {
    let mut reader = BufReader::new(stream);
    let Some(asked) = read(&mut reader) else { return };
    let (status, body) = respond(&asked);
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let stream = reader.get_mut();
    let sent = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&body));
    drop(sent);
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let (method, rest) = first.split_once(' ')?;
    let target = rest.split(' ').next()?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = BTreeMap::new();
    while let Some((name, value)) = line()?.split_once(':') {
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().expect("a length is a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body,
    })
}

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Names in a response with the names of objects.
const PAGE_NAMES: usize = 3;

/// A bucket.
pub(crate) struct StubBucket {
    address: SocketAddr,
    objects: Objects,
    refused: Arc<Mutex<Vec<String>>>,
}

impl StubBucket {
    /// With object lock.
    pub(crate) fn start() -> Self {
        Self::start_with(true)
    }

    /// Objects may only be stored with a lock where it has one.
    pub(crate) fn start_with(has_lock: bool) -> Self {
        let (objects, refused) = (Objects::default(), Arc::<Mutex<Vec<String>>>::default());
        let (stored, noted) = (Arc::clone(&objects), Arc::clone(&refused));
        let address = serve(move |asked| match respond(asked, &stored, has_lock) {
            Ok(body) => (200, body),
            Err((status, why)) => {
                // Reading back an anchor that is not there is no refusal.
                if status != 404 {
                    noted.lock().expect("a lock").push(format!("{status} {why}"));
                }
                (status, Vec::new())
            }
        });
        Self {
            address,
            objects,
            refused,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/anchors/audit", self.address)
    }

    /// An object below the prefix.
    pub(crate) fn object(&self, name: &str) -> Option<Vec<u8>> {
        let path = format!("/anchors/audit/{name}");
        self.objects.lock().expect("a lock").get(&path).cloned()
    }

    /// The names of all objects below the prefix.
    pub(crate) fn names(&self) -> Vec<String> {
        let objects = self.objects.lock().expect("a lock");
        let names = objects
            .keys()
            .filter_map(|path| path.strip_prefix("/anchors/audit/"));
        names.map(str::to_owned).collect()
    }

    /// Stores an object as another client.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        let path = format!("/anchors/audit/{name}");
        let mut objects = self.objects.lock().expect("a lock");
        objects.insert(path, content.to_vec());
    }

    /// The requests that were refused, with the reason.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.lock().expect("a lock").clone()
    }
}

/// One page of the names of objects, in the form of `ListObjectsV2`.
fn listed(query: &str, objects: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let of = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.find(|(one, _)| *one == name).map_or("", |(_, value)| value);
        format!("/anchors/{}", value.replace("%2F", "/").replace("%3D", "="))
    };
    let (prefix, after) = (of("prefix"), of("start-after"));
    let names = objects
        .keys()
        .filter(|path| path.starts_with(&prefix) && **path > after);
    let names = names.filter_map(|path| path.strip_prefix("/anchors/"));
    let contents = names
        .take(PAGE_NAMES)
        .map(|name| format!("<Contents><Key>{name}</Key><Size>1</Size></Contents>"));
    format!(
        "<ListBucketResult>{}</ListBucketResult>",
        contents.collect::<String>()
    )
    .into_bytes()
}

fn respond(asked: &Asked, objects: &Objects, has_lock: bool) -> Result<Vec<u8>, (u16, String)> {
    let denied = |why: &str| (403, why.to_owned());
    check_signature(asked).map_err(|why| denied(&why))?;
    let mut objects = objects.lock().expect("a lock");
    if asked.query.contains("list-type=2") {
        return Ok(listed(&asked.query, &objects));
    }
    let path = asked.path.replace("%3D", "=");
    let stored = objects.get(&path);
    if asked.method == "GET" {
        return stored.cloned().ok_or((404, path.clone()));
    }
    let header = |name: &str| asked.headers.get(name).map_or("", String::as_str);
    let digest = STANDARD.encode(Sha256::digest(&asked.body));
    if header("x-amz-checksum-sha256") != digest {
        return Err((400, "the checksum is not that of the body".to_owned()));
    }
    let lock = if has_lock { "COMPLIANCE" } else { "" };
    if header("if-none-match") != "*" || header("x-amz-object-lock-mode") != lock {
        return Err((400, format!("{:?}", asked.headers)));
    }
    if has_lock && !header("x-amz-object-lock-retain-until-date").starts_with("20") {
        return Err((400, "no time until which it is locked".to_owned()));
    }
    match stored {
        Some(_) => Err((412, path)),
        None => {
            objects.insert(path, asked.body.clone());
            Ok(Vec::new())
        }
    }
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any key will do");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// AWS Signature Version 4, "Authenticating requests: using query parameters".
fn check_signature(asked: &Asked) -> Result<(), String> {
    let mut pairs: Vec<&str> = asked.query.split('&').collect();
    let value = |name: &str| {
        let start = format!("{name}=");
        let found = pairs.iter().find_map(|pair| pair.strip_prefix(&start));
        found.map(|value| value.replace("%2F", "/").replace("%3B", ";"))
    };
    let of = |name: &str| value(name).ok_or(format!("no {name}"));
    let (signature, date) = (of("X-Amz-Signature")?, of("X-Amz-Date")?);
    let day = &date[..8];
    let scope = format!("{day}/{REGION}/s3/aws4_request");
    if of("X-Amz-Credential")? != format!("{ACCESS_KEY}/{scope}")
        || of("X-Amz-Algorithm")? != "AWS4-HMAC-SHA256"
    {
        return Err("other credentials".to_owned());
    }
    let signed = of("X-Amz-SignedHeaders")?;
    let mut headers = String::new();
    for name in signed.split(';') {
        let value = asked.headers.get(name).ok_or(format!("no header {name}"))?;
        headers.push_str(&format!("{name}:{value}\n"));
    }
    let sent = asked.headers.keys().filter(|name| name.starts_with("x-amz-"));
    for name in sent.map(String::as_str).chain(["host"]) {
        if !signed.split(';').any(|one| one == name) {
            return Err(format!("{name} is not signed"));
        }
    }
    pairs.retain(|pair| !pair.starts_with("X-Amz-Signature="));
    pairs.sort_unstable();
    let request = format!(
        "{}\n{}\n{}\n{headers}\n{signed}\nUNSIGNED-PAYLOAD",
        asked.method,
        asked.path,
        pairs.join("&")
    );
    let digest = base16ct::lower::encode_string(&Sha256::digest(request));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}");
    let mut key = format!("AWS4{SECRET_KEY}").into_bytes();
    for part in [day, REGION, "s3", "aws4_request"] {
        key = hmac(&key, part);
    }
    match base16ct::lower::encode_string(&hmac(&key, &text)) == signature {
        true => Ok(()),
        false => Err("the signature is wrong".to_owned()),
    }
}

/// What an authority answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    /// With a time stamp.
    Right,
    /// With status 500.
    Fails,
    /// With something else.
    Garbage,
    /// With a time stamp for the request before.
    Stale,
    /// With a refusal: its policy is unknown to OpenSSL.
    Refuses,
    /// With a time stamp of an authority that is not trusted.
    Untrusted,
}

/// A time-stamp authority.
pub(super) struct StubAuthority {
    address: SocketAddr,
    directory: PathBuf,
    behavior: Arc<Mutex<(Behavior, usize)>>,
}

impl StubAuthority {
    pub(super) fn start() -> Self {
        let directory = temporary_directory("authority-");
        create_authority(&directory);
        let other = directory.join("other");
        std::fs::create_dir(&other).expect("create a directory");
        create_authority(&other);
        let behavior = Arc::new(Mutex::new((Behavior::Right, 0)));
        let (own, chosen) = (directory.clone(), Arc::clone(&behavior));
        let last = Mutex::new(None::<Vec<u8>>);
        let address = serve(move |asked| {
            let (behavior, _) = *chosen.lock().expect("a lock");
            let mut last = last.lock().expect("a lock");
            let stale = last.replace(asked.body.clone());
            let response = match behavior {
                Behavior::Right => (200, reply(&own, &asked.body)),
                Behavior::Fails => (500, Vec::new()),
                Behavior::Garbage => (200, b"<html>".to_vec()),
                Behavior::Stale => (200, reply(&own, &stale.unwrap_or_else(|| asked.body.clone()))),
                Behavior::Refuses => (200, reply(&own, b"no query")),
                Behavior::Untrusted => (200, reply(&other, &asked.body)),
            };
            chosen.lock().expect("a lock").1 += 1;
            response
        });
        Self {
            address,
            directory,
            behavior,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The certificate of its root.
    pub(super) fn root(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// The certificate of another root.
    pub(super) fn other_root(&self) -> PathBuf {
        self.directory.join("other").join("ca.pem")
    }

    pub(super) fn behave(&self, behavior: Behavior) {
        *self.behavior.lock().expect("a lock") = (behavior, 0);
    }

    /// How often it was asked since it was told how to behave.
    pub(super) fn asked(&self) -> usize {
        self.behavior.lock().expect("a lock").1
    }
}

/// Runs OpenSSL in a directory.
pub(super) fn openssl(directory: &Path, arguments: &[&str]) -> bool {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("run openssl");
    output.status.success()
}

const CONFIGURATION: &str = "[tsa]\ndefault_tsa = one\n[one]\nserial = serial\nsigner_cert = tsa.pem\nsigner_key = tsa.key\n\
signer_digest = sha256\ndefault_policy = 1.2.3.4.1\ndigests = sha256\nordering = yes\ntsa_name = yes\n\
ess_cert_id_chain = no\n";

fn create_authority(directory: &Path) {
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("write a file");
    write("tsa.cnf", CONFIGURATION);
    write("serial", "01\n");
    write(
        "ext",
        "basicConstraints=CA:FALSE\nextendedKeyUsage=critical,timeStamping\n",
    );
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    let root = [
        "req", "-x509", "-days", "3650", "-subj", "/CN=Root", "-keyout", "ca.key", "-out", "ca.pem",
    ];
    let request = [
        "req",
        "-new",
        "-subj",
        "/CN=Authority",
        "-keyout",
        "tsa.key",
        "-out",
        "tsa.csr",
    ];
    let sign = [
        "x509",
        "-req",
        "-days",
        "3650",
        "-in",
        "tsa.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-extfile",
        "ext",
        "-out",
        "tsa.pem",
    ];
    for arguments in [
        [&root[..], &key].concat(),
        [&request[..], &key].concat(),
        sign.to_vec(),
    ] {
        assert!(openssl(directory, &arguments), "openssl {arguments:?}");
    }
}

/// The response of OpenSSL to a query; a refusal where it is not one.
fn reply(directory: &Path, query: &[u8]) -> Vec<u8> {
    std::fs::write(directory.join("query"), query).expect("write a file");
    let arguments = [
        "ts",
        "-reply",
        "-queryfile",
        "query",
        "-config",
        "tsa.cnf",
        "-out",
        "reply",
    ];
    openssl(directory, &arguments);
    std::fs::read(directory.join("reply")).expect("a reply")
}

/// Whether OpenSSL verifies a time stamp over a document.
pub(super) fn is_stamped(document: &Path, time_stamp: &Path, root: &Path) -> bool {
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let (document, time_stamp, root) = (text(document), text(time_stamp), text(root));
    let arguments = [
        "ts",
        "-verify",
        "-data",
        &document,
        "-in",
        &time_stamp,
        "-CAfile",
        &root,
    ];
    openssl(Path::new("/"), &arguments)
}
