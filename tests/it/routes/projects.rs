//! Projects, and the ways in which a master key selects one.

use audit_tests::{Client, DatabaseKind, Organization, event, merge, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_new_organization_has_the_project_default,
    a_created_project_is_listed_and_works,
    a_renamed_project_works_as_before,
    every_fault_of_a_project_is_named,
    the_only_project_is_meant_when_none_is_named,
    with_several_projects_a_master_key_must_name_one,
    a_project_of_another_organization_is_not_found,
    rules_and_tiers_of_one_project_do_not_touch_another,
}

fn a_new_organization_has_the_project_default(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let projects = organization
        .master()
        .get("/projects")
        .send()
        .expect_status(200)
        .list("projects");
    assert_eq!(projects.len(), 1);
    assert_eq!(projects[0]["id"], json!(organization.project_id));
    assert_eq!(projects[0]["name"], "default");
    assert!(
        projects[0]["created_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z')),
        "{}",
        projects[0]
    );
}

fn a_created_project_is_listed_and_works(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let response = organization
        .master()
        .post("/projects")
        .json(json!({"name": "Küche"}))
        .send()
        .expect_status(201);
    assert_eq!(response["project"]["name"], "Küche");
    let projects = organization
        .master()
        .get("/projects")
        .send()
        .expect_status(200)
        .list("projects");
    assert_eq!(projects.len(), 2);
    assert!(projects.contains(&response["project"]), "{projects:?}");
    let id = response["project"]["id"].as_str().expect("an id");
    let path = format!("/projects/{id}");
    assert_eq!(organization.master().one(&path, "project"), response["project"]);
    let key = organization.with_credential(&organization.create_key_of(id, "live"));
    key.store(event());
    assert_eq!((key.count(), organization.project().count()), (1, 0));
    let rules = key
        .get("/redaction/rules")
        .send()
        .expect_status(200)
        .list("rules");
    assert_eq!(rules.len(), 15, "a new project has the built-in rules");
    let body = json!({"tenant_id": "t", "tier": "minimal"});
    key.post("/viewer-tokens").json(body).send().expect_status(201);
}

fn a_renamed_project_works_as_before(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (master, project) = (organization.master(), organization.project());
    let first = project.store(event());
    let path = format!("/projects/{}", organization.project_id);
    let before = master.one(&path, "project");
    let rename = |client: &Client| client.patch(&path).json(json!({"name": "Küche"})).send();
    let response = rename(&master).expect_status(200);
    assert_eq!(response["project"], merge(before, json!({"name": "Küche"})));
    let listed = master.get("/projects").send().expect_status(200).list("projects");
    assert_eq!(listed, [response["project"].clone()]);
    let second = project.store(event());
    assert_eq!(project.find_ids(&[]), [second, first]);
    assert_eq!(rename(&master).expect_status(200)["project"], listed[0]);
    rename(&project).expect_error(403, "forbidden");
    rename(&Organization::fresh(database).master()).expect_error(404, "not_found");
    let unknown = master.patch("/projects/67e55044-10b1-426f-9247-bb680e5fe0c8");
    unknown
        .json(json!({"name": "x"}))
        .send()
        .expect_error(404, "not_found");
}

fn every_fault_of_a_project_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let path = format!("/api/v1/projects/{}", organization.project_id);
    for (method, path) in [("POST", "/api/v1/projects"), ("PATCH", path.as_str())] {
        let send = |body: Value| master.request(method, path).json(body).send();
        for name in [json!(""), json!(5), json!("x".repeat(101)), json!("a\0b")] {
            send(json!({"name": name})).expect_invalid(&["name"]);
        }
        send(json!({"name": "x", "colour": "red"})).expect_invalid(&["colour"]);
    }
    for (body, message) in [
        (json!({}), "Required"),
        (json!({"name": null}), "Expected string, received null"),
    ] {
        let refused = master.post("/projects").json(body).send();
        assert_eq!(refused.expect_invalid(&["name"]).message_on("name"), message);
    }
}

fn the_only_project_is_meant_when_none_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.master().store(event());
    assert_eq!(organization.project().find_ids(&[]), [id]);
}

fn with_several_projects_a_master_key_must_name_one(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other = organization.create_project("other");
    let master = organization.master();
    master.get("/events").send().expect_invalid(&["project_id"]);
    master
        .post("/events")
        .json(event())
        .send()
        .expect_invalid(&["project_id"]);
    master
        .get("/redaction/rules")
        .send()
        .expect_invalid(&["project_id"]);
    master.get("/viewer-tiers").send().expect_invalid(&["project_id"]);
    master
        .post("/redaction/test")
        .json(json!({"event": {}}))
        .send()
        .expect_invalid(&["project_id"]);
    let in_other = master.with_header("x-project-id", &other).store(event());
    let in_default = master
        .post("/events")
        .query("project_id", &organization.project_id)
        .json(event())
        .send();
    let in_default = in_default.expect_status(201).ids().remove(0);
    assert_eq!(master.find_ids(&[("project_id", &other)]), [in_other]);
    assert_eq!(
        master
            .with_header("X-Project-Id", &organization.project_id)
            .find_ids(&[]),
        [in_default]
    );
}

fn a_project_of_another_organization_is_not_found(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let foreign = Organization::fresh(database);
    let unknown = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    for project in [foreign.project_id.as_str(), unknown] {
        let master = organization.master();
        master
            .get(&format!("/projects/{project}"))
            .send()
            .expect_error(404, "not_found");
        master
            .get("/events")
            .query("project_id", project)
            .send()
            .expect_error(404, "not_found");
        let master = master.with_header("x-project-id", project);
        master.get("/events").send().expect_error(404, "not_found");
        master
            .post("/events")
            .json(event())
            .send()
            .expect_error(404, "not_found");
        master.get("/viewer-tiers").send().expect_error(404, "not_found");
        let rule = json!({"type": "pattern", "name": "x", "pattern": "x"});
        master
            .post("/redaction/rules")
            .json(rule)
            .send()
            .expect_error(404, "not_found");
    }
    assert_eq!(foreign.project().count(), 0);
}

fn rules_and_tiers_of_one_project_do_not_touch_another(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other = organization.create_project("other");
    let master = organization.master().with_header("x-project-id", &other);
    let rule = json!({"type": "pattern", "name": "zebra", "pattern": "zebra"});
    let rule = master
        .post("/redaction/rules")
        .json(rule)
        .send()
        .expect_status(201);
    master
        .post("/viewer-tiers")
        .json(json!({"name": "support"}))
        .send()
        .expect_status(201);
    let rules = organization
        .project()
        .get("/redaction/rules")
        .send()
        .expect_status(200)
        .list("rules");
    assert!(rules.iter().all(|rule| rule["type"] == "builtin"), "{rules:?}");
    let body = json!({"tenant_id": "t", "tier": "support"});
    organization
        .project()
        .post("/viewer-tokens")
        .json(body)
        .send()
        .expect_invalid(&["tier"]);
    let path = format!("/redaction/rules/{}", rule["rule"]["id"].as_str().expect("an id"));
    let default = organization
        .master()
        .with_header("x-project-id", &organization.project_id);
    for path in [path.as_str(), "/viewer-tiers/support"] {
        default.get(path).send().expect_error(404, "not_found");
        default.delete(path).send().expect_error(404, "not_found");
    }
}
