//! TLS to PostgreSQL, with the parameters of libpq.

use audit_tests::{
    Cluster, Database, Deadline, Organization, Server, TlsCluster, command_line_on, command_line_with, event,
};
use std::os::unix::fs::PermissionsExt;

/// A database of a test's own.
fn create_database(cluster: &Cluster, name: &str) {
    cluster.execute(&format!("CREATE DATABASE {name}"));
}

fn list(url: &str, environment: &[(&str, &str)]) -> audit_tests::Finished {
    command_line_with(&["org", "list", "--database-url", url], environment)
}

#[test]
fn the_certificate_of_the_database_is_checked_as_the_url_says() {
    let Some(tls) = TlsCluster::shared() else { return };
    create_database(tls.cluster(), "checked");
    let ca = tls.file("ca.pem");
    let full = format!("sslmode=verify-full&sslrootcert={ca}");
    for parameters in [
        "sslmode=require",
        &format!("sslmode=verify-ca&sslrootcert={ca}"),
        &full,
        &format!("{full}&channel_binding=require"),
    ] {
        list(&tls.url("checked", parameters), &[]).success();
    }
    let other = format!("sslmode=verify-full&sslrootcert={}", tls.file("other-ca.pem"));
    for (url, reason) in [
        (tls.url("checked", "sslmode=disable"), "no encryption"),
        (tls.url("checked", &other), "certificate verify failed"),
        (
            tls.url_of("audit:correct-horse@other.example/checked", &full),
            "does not match host name \"other.example\"",
        ),
        (
            tls.url("checked", "sslmode=verify-full&sslrootcert=/nonexistent"),
            "root certificate file \"/nonexistent\" does not exist",
        ),
        (
            tls.url("checked", "sslmode=require&sslrootcert=system"),
            "weak sslmode",
        ),
    ] {
        let refusal = list(&url, &[]).refusal();
        assert!(refusal.contains(reason), "{reason}: {refusal}");
        assert!(!refusal.contains("correct-horse"), "{refusal}");
    }
}

#[test]
fn the_roots_of_the_system_are_trusted_when_the_url_says_so() {
    let Some(tls) = TlsCluster::shared() else { return };
    create_database(tls.cluster(), "trusting");
    let url = tls.url("trusting", "sslrootcert=system");
    list(&url, &[("SSL_CERT_FILE", &tls.file("ca.pem"))]).success();
    // The authority of the tests is none of the system's.
    let refusal = list(&url, &[]).refusal();
    assert!(refusal.contains("certificate verify failed"), "{refusal}");
}

#[test]
fn every_session_of_a_node_is_encrypted() {
    let Some(tls) = TlsCluster::shared() else { return };
    create_database(tls.cluster(), "encrypted");
    let parameters = format!("sslmode=verify-full&sslrootcert={}", tls.file("ca.pem"));
    let database = Database::at(tls.url("encrypted", &parameters));
    let server = Server::start(&database, &[]);
    let project = Organization::create(&server, "enterprise").project();
    let first = project.store(event());
    let sessions = "pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE datname = 'encrypted'";
    let all = format!("count(*) >= 5 AND bool_and(ssl AND client_addr IS NOT NULL) FROM {sessions}");
    // Pools open their sessions in the background.
    Deadline::seconds(60).poll("encrypted sessions", || tls.cluster().holds(&all).then_some(()));

    // New sessions are encrypted as well. All of these have ended before the next read, which may be repeated once.
    tls.cluster().execute(&format!(
        "SELECT pg_terminate_backend(pid, 60000) FROM {sessions}"
    ));
    let stored = Deadline::seconds(60).poll("stored again", || {
        let response = project.post("/events").json(event()).send();
        (response.status() == 201).then(|| response.ids().remove(0))
    });
    assert_eq!(project.find_ids(&[]), [stored, first]);
    assert!(tls.cluster().holds(&format!("bool_and(ssl) FROM {sessions}")));
    drop(server);
    command_line_on(&database, &["log", "verify"]).success();
}

#[test]
fn a_client_certificate_takes_the_place_of_a_password() {
    let Some(tls) = TlsCluster::shared() else { return };
    create_database(tls.cluster(), "certified");
    let full = format!("sslmode=verify-full&sslrootcert={}", tls.file("ca.pem"));
    let location = "certified@db.example/certified";
    let certificate = format!("{full}&sslcert={}", tls.file("client.pem"));
    let with_key = |key: &str| tls.url_of(location, &format!("{certificate}&sslkey={key}"));
    list(&with_key(&tls.file("client.key")), &[]).success();

    let refusal = list(&tls.url_of(location, &full), &[]).refusal();
    assert!(refusal.contains("valid client certificate"), "{refusal}");
    let readable = tls.file("readable.key");
    std::fs::copy(tls.file("client.key"), &readable).expect("copy the key");
    std::fs::set_permissions(&readable, std::fs::Permissions::from_mode(0o644)).expect("set permissions");
    let refusal = list(&with_key(&readable), &[]).refusal();
    assert!(refusal.contains("group or world access"), "{refusal}");
}

#[test]
fn the_password_comes_from_a_file() {
    let Some(tls) = TlsCluster::shared() else { return };
    create_database(tls.cluster(), "filed");
    let location = "audit@db.example/filed";
    let url = tls.url_of(location, "sslmode=require");
    list(&url, &[("PGPASSFILE", &tls.file("pgpass"))]).success();
    let passfile = format!("sslmode=require&passfile={}", tls.file("pgpass"));
    list(&tls.url_of(location, &passfile), &[]).success();
    let refusal = list(&url, &[("PGPASSFILE", "/nonexistent")]).refusal();
    assert!(refusal.contains("no password supplied"), "{refusal}");
}
