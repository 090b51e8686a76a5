use audit_tests::{DatabaseKind, Organization, Server, event, event_with, now_plus, on_both_databases};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// Header, claims and signature of a token.
fn parts(token: &str) -> [String; 3] {
    let jwt = token
        .strip_prefix("vt_")
        .unwrap_or_else(|| panic!("{token} does not start with vt_"));
    let parts: Vec<String> = jwt.split('.').map(str::to_owned).collect();
    parts
        .try_into()
        .unwrap_or_else(|parts| panic!("a JWT has three parts: {parts:?}"))
}

fn decoded(part: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url without padding");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn token_for(organization: &Organization, body: Value) -> String {
    organization
        .project()
        .post("/viewer-tokens")
        .json(body)
        .send()
        .expect_status(201)
        .text("token")
}

fn kid(organization: &Organization) -> Value {
    decoded(&parts(&organization.viewer_token("tenant-1", "full"))[0])["kid"].clone()
}

on_both_databases! {
    a_token_is_a_jwt_with_the_documented_claims,
    a_token_lives_an_hour_by_default,
    every_fault_of_a_token_request_is_named,
    a_viewer_sees_its_tenant_alone,
    a_viewer_sees_its_project_alone,
    standard_is_the_tier_of_a_token_without_one,
    a_tampered_token_is_refused,
    a_rotated_secret_still_verifies_the_tokens_it_signed,
}

fn a_token_is_a_jwt_with_the_documented_claims(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let body = json!({"tenant_id": "tenant-1", "tier": "full", "expires_in": 600});
    let response = organization
        .project()
        .post("/viewer-tokens")
        .json(body)
        .send()
        .expect_status(201);
    let [header, claims, _] = parts(&response.text("token"));
    let (header, claims) = (decoded(&header), decoded(&claims));
    assert_eq!(header["alg"], "HS256");
    assert!(header["kid"].is_string(), "{header}");
    assert_eq!(claims["sub"], json!(organization.project_id));
    assert_eq!(claims["tenant_id"], "tenant-1");
    assert_eq!(claims["tier"], "full");
    for claim in ["iss", "aud", "jti"] {
        assert!(!claims[claim].is_null(), "{claim} in {claims}");
    }
    let seconds = |claim: &str| {
        claims[claim]
            .as_i64()
            .unwrap_or_else(|| panic!("{claim} in {claims}"))
    };
    assert_eq!(seconds("exp") - seconds("iat"), 600);
}

fn a_token_lives_an_hour_by_default(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for (body, lifetime) in [
        (json!({"tenant_id": "t"}), 3600),
        (json!({"tenant_id": "t", "expires_in": 60}), 60),
        (json!({"tenant_id": "t", "expires_in": 86400}), 86400),
    ] {
        let (earliest, latest) = (now_plus(lifetime - 30), now_plus(lifetime + 30));
        let expires_at = project
            .post("/viewer-tokens")
            .json(body)
            .send()
            .expect_status(201)
            .text("expires_at");
        assert!(
            earliest < expires_at && expires_at < latest,
            "{earliest} {expires_at} {latest}"
        );
    }
}

fn every_fault_of_a_token_request_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |body: Value| organization.project().post("/viewer-tokens").json(body).send();
    assert_eq!(
        post(json!({}))
            .expect_invalid(&["tenant_id"])
            .message_on("tenant_id"),
        "Required"
    );
    for expires_in in [
        json!(59),
        json!(86401),
        json!(-1),
        json!(60.5),
        json!("3600"),
        json!(1e300),
    ] {
        post(json!({"tenant_id": "t", "expires_in": expires_in})).expect_invalid(&["expires_in"]);
    }
    post(json!({"tenant_id": "t", "tier": "unknown"})).expect_invalid(&["tier"]);
    post(json!({"tenant_id": "t", "tier": 5})).expect_invalid(&["tier"]);
    post(json!({"tenant_id": "x".repeat(257), "colour": 1})).expect_invalid(&["tenant_id", "colour"]);
}

fn a_viewer_sees_its_tenant_alone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let own = organization.project().store(event());
    organization
        .project()
        .store(event_with(json!({"tenant_id": "tenant-2"})));
    let viewer = organization.viewer("tenant-1", "full");
    assert_eq!(viewer.find_ids(&[]), std::slice::from_ref(&own));
    assert_eq!(
        viewer.find_ids(&[("tenant_id", "tenant-1")]),
        std::slice::from_ref(&own)
    );
    for parameters in [
        [("tenant_id", "tenant-2")],
        [("search", "user")],
        [("action", "user.*")],
    ] {
        let response = viewer.get("/events").queries(&parameters).send();
        assert!(
            !response.body().to_string().contains("tenant-2"),
            "{parameters:?}: {response:?}"
        );
    }
    let pages = viewer.pages(&[("limit", "1")]);
    assert_eq!(
        pages.len(),
        1,
        "other tenants' events do not even show as further pages"
    );
}

fn a_viewer_sees_its_project_alone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(event());
    let stranger = Organization::fresh(database);
    assert_eq!(
        stranger.viewer("tenant-1", "full").find_ids(&[]),
        Vec::<String>::new()
    );
    let viewer = organization
        .viewer("tenant-1", "full")
        .with_header("x-project-id", &stranger.project_id);
    stranger
        .project()
        .store(event_with(json!({"actor": {"name": "foreign"}})));
    assert!(
        !viewer
            .get("/events")
            .send()
            .body()
            .to_string()
            .contains("foreign")
    );
}

fn standard_is_the_tier_of_a_token_without_one(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization
        .project()
        .store(event_with(json!({"metadata": {"a": 1}, "changes": []})));
    let token = token_for(&organization, json!({"tenant_id": "tenant-1"}));
    assert_eq!(decoded(&parts(&token)[1])["tier"], "standard");
    let seen = organization.with_credential(&token).find(&[]);
    assert!(
        seen[0].get("metadata").is_none() && seen[0].get("changes").is_some(),
        "{seen:?}"
    );
}

fn a_tampered_token_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let token = organization.viewer_token("tenant-1", "minimal");
    let [header, claims, signature] = parts(&token);
    let other_claims = |change: Value| encoded(&audit_tests::merge(decoded(&claims), change));
    let other_header = |change: Value| encoded(&audit_tests::merge(decoded(&header), change));
    let forged = [
        format!(
            "{header}.{}.{signature}",
            other_claims(json!({"tenant_id": "tenant-2"}))
        ),
        format!("{header}.{}.{signature}", other_claims(json!({"tier": "full"}))),
        format!(
            "{header}.{}.{signature}",
            other_claims(json!({"exp": 4_000_000_000_u64}))
        ),
        format!("{}.{claims}.{signature}", other_header(json!({"alg": "HS512"}))),
        format!("{}.{claims}.", other_header(json!({"alg": "none"}))),
        format!("{}.{claims}.{signature}", other_header(json!({"kid": "unknown"}))),
        format!("{header}.{claims}.{}", URL_SAFE_NO_PAD.encode([0; 32])),
        format!("{header}.{claims}.{}", &signature[1..]),
        format!("{header}.{claims}."),
        format!("{header}.{claims}"),
        "x".to_owned(),
        String::new(),
    ];
    for jwt in forged {
        let client = organization.with_credential(&format!("vt_{jwt}"));
        client.get("/events").send().expect_error(401, "invalid_token");
    }
    organization
        .with_credential(&token)
        .get("/events")
        .send()
        .expect_status(200);
}

fn a_rotated_secret_still_verifies_the_tokens_it_signed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.project().store(event());
    let old_kid = kid(&organization);
    let old = organization.viewer("tenant-1", "full");
    Server::shared(database)
        .command_line(&["viewer-secret", "rotate"])
        .success();
    assert_eq!(old.find_ids(&[]), std::slice::from_ref(&id));
    let new_kid = kid(&organization);
    assert_ne!(new_kid, old_kid);
    assert_eq!(organization.viewer("tenant-1", "full").find_ids(&[]), [id]);
}
