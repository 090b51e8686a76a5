//! The examples of `docs/api.md` and of the README, run in order against one server. A document shows a response with
//! the members and the types of values that the server sends.

use super::read;
use super::shape::Names;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Receiver, Reply, Server, alert_rule, claim_token,
    door_opened, has_curl, program, temporary_directory, webhook_environment,
};
use serde_json::{Value, json};
use std::process::Command;

/// Refusals that only an organization on the free plan gets.
const OF_THE_FREE_PLAN: [&str; 2] = ["webhooks_not_available", "alert_rule_limit_reached"];
/// Where the receiver of webhooks listens in the document.
const RECEIVER: &str = "localhost:8443";

/// A fenced block: its language and its text.
#[derive(Clone, Debug)]
struct Block {
    language: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                language: language.to_owned(),
                text: text.join("\n"),
            });
        }
    }
    blocks
}

/// Status, names of headers, and body of a response as `curl -i` prints it.
fn parts(response: &str) -> (String, Vec<String>, String) {
    let response = response.replace('\r', "");
    let (head, body) = response.split_once("\n\n").unwrap_or((response.trim_end(), ""));
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default().to_owned();
    let names = lines.filter_map(|line| Some(line.split_once(':')?.0.to_lowercase()));
    (status, names.collect(), body.to_owned())
}

/// Runs a script and returns its output.
fn run(script: &str, variables: &[(&str, &str)]) -> String {
    let output = Command::new("sh")
        .args(["-c", script])
        .envs(variables.iter().copied())
        .output()
        .expect("run a shell");
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

fn parse(text: &str, of: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{of}: {error}: {text}"))
}

/// A server with the data that the examples need.
struct Session {
    server: Server,
    organization: Organization,
    free: Organization,
    receiver: Receiver,
    names: Names,
    test_key: String,
    viewer_token: String,
    token: String,
}

impl Session {
    fn start(document: &str) -> Self {
        let server = Server::start(&Database::create(DatabaseKind::Sqlite), &webhook_environment());
        let organization = Organization::create(&server, "enterprise");
        let receiver = Receiver::start();
        let mut names = Names::default();
        let project = document
            .split("X-Project-Id: ")
            .nth(1)
            .expect("an example names a project");
        names.insert(&project[..36], &organization.project_id);
        let url = receiver.url("");
        names.insert(RECEIVER, url.trim_start_matches("https://"));
        Self {
            free: Organization::create(&server, "free"),
            server,
            organization,
            receiver,
            names,
            test_key: String::new(),
            viewer_token: String::new(),
            token: claim_token(),
        }
    }

    fn run(&self, command: &str, is_free: bool) -> String {
        let organization = if is_free { &self.free } else { &self.organization };
        let command = self.names.replace(command);
        let mut command = command.replace(&self.organization.project_id, &organization.project_id);
        if let Some((line, rest)) = command
            .clone()
            .split_once('\n')
            .filter(|(line, _)| line.starts_with("TOKEN="))
        {
            assert!(line.contains("uuid"), "{line}");
            command = rest.to_owned();
        }
        let (host, base) = (
            self.server.base_url(),
            format!("{}/api/v1", self.server.base_url()),
        );
        let variables = [
            ("HOST", host),
            ("BASE", &base),
            ("PROJECT_KEY", &organization.project_key),
            ("MASTER_KEY", &organization.master_key),
            ("TEST_KEY", &self.test_key),
            ("VIEWER_TOKEN", &self.viewer_token),
            ("TOKEN", &self.token),
        ];
        run(&command, &variables)
    }

    /// Runs a command and compares its output with the documented one.
    fn check(&mut self, command: &str, documented: &Block) {
        let is_free = OF_THE_FREE_PLAN.iter().any(|code| documented.text.contains(code));
        // A filter changes the server's output, so only the members that it keeps are compared.
        let (request, filter) = command
            .split_once(" | jq ")
            .map_or((command, None), |(request, filter)| (request, Some(filter)));
        let printed = self.run(request, is_free);
        if documented.language == "http" {
            self.check_whole(command, &documented.text, &printed);
            return;
        }
        let mut expected = parse(&documented.text, "the document");
        let mut actual = parse(&printed, command);
        if filter.is_some() {
            let members = actual.as_object_mut().expect("an object");
            members.retain(|name, _| expected.get(name).is_some());
            let members = expected.as_object_mut().expect("an object");
            members.retain(|name, _| actual.get(name).is_some());
        }
        self.names
            .compare(&expected, &actual, &format!("{command}: response"));
        self.learn(&actual);
    }

    /// With status and headers.
    fn check_whole(&mut self, command: &str, documented: &str, printed: &str) {
        let (expected, actual) = (parts(documented), parts(printed));
        assert_eq!(expected.0.trim(), actual.0.trim(), "{command}: {printed}");
        for name in &expected.1 {
            assert!(
                actual.1.contains(name),
                "{command}: there is no header {name} in {printed}"
            );
        }
        if expected.2.trim_start().starts_with('{') {
            let (expected, actual) = (parse(&expected.2, "the document"), parse(&actual.2, command));
            self.names
                .compare(&expected, &actual, &format!("{command}: response"));
        } else {
            // Metrics: a line each, the value last.
            let metric = |line: &str| line.rsplit_once(' ').map(|(name, _)| name.to_owned());
            let shown: Vec<String> = expected.2.lines().filter_map(metric).collect();
            let sent: Vec<String> = actual.2.lines().filter_map(metric).collect();
            assert_eq!(shown, sent, "{command}");
        }
    }

    /// The credentials of later examples.
    fn learn(&mut self, response: &Value) {
        if let Some(key) = response["key"].as_str().filter(|key| key.starts_with("pk_test_")) {
            key.clone_into(&mut self.test_key);
        }
        if let Some(token) = response["token"].as_str() {
            token.clone_into(&mut self.viewer_token);
        }
    }

    fn master(&self) -> Client {
        let project_id = &self.organization.project_id;
        self.organization.master().with_header("x-project-id", project_id)
    }

    /// One alert that is delivered, and one whose first attempt has failed.
    fn deliver(&self) {
        let master = self.master();
        let listed = master
            .get("/alerts/webhooks")
            .send()
            .expect_status(200)
            .list("webhooks");
        let webhook = &listed[0];
        let rule = alert_rule(json!({}));
        master.post("/alerts/rules").json(rule).send().expect_status(201);
        let project = self.organization.project();
        project.store(door_opened("actor-1"));
        let deliveries = |is_as_wanted: fn(&Value) -> bool| {
            Deadline::seconds(90).poll("the deliveries", || {
                let deliveries = master.deliveries(webhook);
                is_as_wanted(&json!(deliveries)).then_some(())
            });
        };
        // The message of the test, and the alert.
        deliveries(|all| all[0]["status"] == "delivered" && all[1]["status"] == "delivered");
        self.receiver.reply("/hook", [Reply::Drop]);
        project.store(door_opened("actor-1"));
        deliveries(|all| all[2] != json!(null) && all[0]["attempts"][0]["number"] == 1);
    }
}

#[test]
fn the_examples_of_the_api_are_what_the_server_sends() {
    if !has_curl() {
        return;
    }
    let document = read("docs/api.md");
    let mut session = Session::start(&document);
    let blocks = blocks(&document);
    let (mut compared, mut index) = (0, 0);
    while let Some(block) = blocks.get(index) {
        index += 1;
        if block.language != "sh" || block.text.starts_with("HOST=") {
            continue;
        }
        if block.text.contains("/deliveries ") {
            session.deliver();
        }
        match blocks
            .get(index)
            .filter(|next| matches!(next.language.as_str(), "json" | "http"))
        {
            Some(response) => {
                session.check(&block.text, response);
                compared += 1;
                index += 1;
            }
            None => {
                let printed = session.run(&block.text, false);
                assert!(!printed.contains("\"error\""), "{}: {printed}", block.text);
            }
        }
    }
    assert!(compared >= 60, "only {compared} examples were found");
}

#[test]
fn the_tour_of_the_readme_works_as_printed() {
    if !has_curl() {
        return;
    }
    // As a user starts it.
    let server = Server::start(
        &Database::create(DatabaseKind::Sqlite),
        &[("AUDIT_SELF_AUDIT", "on")],
    );
    let organization = Organization::create(&server, "enterprise");
    let blocks = blocks(&read("README.md"));
    let start = blocks
        .iter()
        .position(|block| block.text.starts_with("export AUDIT="));
    let [variables, tour, first] = &blocks[start.expect("the tour")..][..3] else {
        panic!("variables, the tour, and its first response")
    };
    let functions = variables.text.split_once('\n').expect("functions").1;
    let (base, key) = (
        format!("{}/api/v1", server.base_url()),
        organization.project_key.clone(),
    );
    let directory = temporary_directory("tour");
    let commands = tour.text.replace("target/try/audit-server", program());
    let script = format!("cd '{}'\n{functions}\n{commands}", directory.display());
    let printed = run(&script, &[("AUDIT", &base), ("KEY", &key)]);
    let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert!(!printed.contains("\"error\""), "{printed}");
    assert!(lines.len() > 10, "{printed}");
    assert!(printed.contains("(user.created, received at "), "{printed}");
    let mut names = Names::default();
    names.compare(
        &parse(&first.text, "README.md"),
        &parse(lines[0], "the tour"),
        "the first response",
    );
}
