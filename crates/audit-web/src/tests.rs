use super::*;
use actix_web::body::to_bytes;
use actix_web::http::header::ACCEPT_ENCODING;
use actix_web::http::{Method, StatusCode};
use actix_web::{App, test};
use flate2::read::GzDecoder;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

fn pages(ancestors: &[&str]) -> Pages {
    let ancestors: Vec<String> = ancestors.iter().map(|&origin| origin.to_owned()).collect();
    Pages::new(FrameAncestors::parse(&ancestors).unwrap()).unwrap()
}

async fn get(pages: &Pages, request: test::TestRequest) -> HttpResponse {
    let application = App::new().configure(|config| configure(config, pages));
    let application = test::init_service(application).await;
    let response = test::call_service(&application, request.to_request()).await;
    response.into_parts().1.map_into_boxed_body()
}

fn header(response: &HttpResponse, name: HeaderName) -> String {
    let value = response.headers().get(name);
    value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
}

#[::core::prelude::v1::test]
fn every_built_file_is_served_and_no_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let mut built = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        built.insert(entry.unwrap().file_name().into_string().unwrap());
    }
    let served: BTreeSet<String> = FILES.iter().map(|file| file.name.to_owned()).collect();
    assert_eq!(built, served);
}

#[actix_web::test]
async fn every_file_has_the_headers_that_protect_it() {
    for file in FILES {
        let response = get(&pages(&[]), test::TestRequest::get().uri(file.path)).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", file.path);
        let policy = header(&response, CONTENT_SECURITY_POLICY);
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert_eq!(header(&response, X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header(&response, REFERRER_POLICY), "no-referrer");
        assert!(!header(&response, CONTENT_TYPE).is_empty());
    }
}

#[actix_web::test]
async fn only_files_with_their_hash_in_their_name_are_cached_for_ever() {
    let cached = FILES.iter().filter(|file| file.is_hashed);
    assert!(cached.clone().count() >= 4);
    for file in cached {
        assert!(
            file.path.starts_with("/assets/") && file.path.contains('-'),
            "{}",
            file.path
        );
        let response = get(&pages(&[]), test::TestRequest::get().uri(file.path)).await;
        assert_eq!(header(&response, CACHE_CONTROL), FOR_EVER);
    }
    for path in ["/", "/portal", "/console", "/viewer.js"] {
        let response = get(&pages(&[]), test::TestRequest::get().uri(path)).await;
        assert_eq!(header(&response, CACHE_CONTROL), REVALIDATED);
        let tag = header(&response, ETAG);
        let again = test::TestRequest::get()
            .uri(path)
            .insert_header((IF_NONE_MATCH, tag));
        assert_eq!(get(&pages(&[]), again).await.status(), StatusCode::NOT_MODIFIED);
        let other = test::TestRequest::get()
            .uri(path)
            .insert_header((IF_NONE_MATCH, "\"x\""));
        assert_eq!(get(&pages(&[]), other).await.status(), StatusCode::OK);
    }
}

#[actix_web::test]
async fn the_portal_alone_can_be_framed_by_the_named_origins() {
    let pages = pages(&["https://app.example.com/", "https://*.example.org"]);
    for (path, expected) in [
        (
            "/portal",
            "frame-ancestors https://app.example.com https://*.example.org",
        ),
        ("/console", "frame-ancestors 'none'"),
        ("/", "frame-ancestors 'none'"),
    ] {
        let response = get(&pages, test::TestRequest::get().uri(path)).await;
        let policy = header(&response, CONTENT_SECURITY_POLICY);
        assert!(policy.ends_with(expected), "{policy}");
    }
}

#[actix_web::test]
async fn only_the_viewer_can_be_loaded_by_other_origins() {
    for file in FILES {
        let response = get(&pages(&[]), test::TestRequest::get().uri(file.path)).await;
        let allowed = header(&response, ACCESS_CONTROL_ALLOW_ORIGIN);
        assert_eq!(allowed == "*", file.path == "/viewer.js", "{}", file.path);
    }
}

#[actix_web::test]
async fn files_are_compressed_for_clients_that_accept_it() {
    for file in FILES {
        let accepting = test::TestRequest::get()
            .uri(file.path)
            .insert_header((ACCEPT_ENCODING, "gzip, deflate, br"));
        let response = get(&pages(&[]), accepting).await;
        assert_eq!(header(&response, CONTENT_ENCODING), "gzip", "{}", file.path);
        assert_eq!(header(&response, VARY), "Accept-Encoding");
        let etag = header(&response, ETAG);
        assert_ne!(etag, file.etag);
        let body = to_bytes(response.into_body()).await.unwrap();
        let mut text = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, file.bytes, "{}", file.path);

        let again = test::TestRequest::get()
            .uri(file.path)
            .insert_header((ACCEPT_ENCODING, "gzip"))
            .insert_header((IF_NONE_MATCH, etag.clone()));
        assert_eq!(get(&pages(&[]), again).await.status(), StatusCode::NOT_MODIFIED);
        for refusing in ["identity", "br", "gzip;q=0"] {
            let plain = test::TestRequest::get()
                .uri(file.path)
                .insert_header((ACCEPT_ENCODING, refusing))
                .insert_header((IF_NONE_MATCH, etag.clone()));
            let response = get(&pages(&[]), plain).await;
            assert_eq!(response.status(), StatusCode::OK, "{refusing}");
            assert_eq!(header(&response, CONTENT_ENCODING), "", "{refusing}");
            assert_eq!(header(&response, VARY), "Accept-Encoding");
        }
    }
}

#[actix_web::test]
async fn head_is_served_like_get() {
    for file in FILES {
        let head = test::TestRequest::default().method(Method::HEAD).uri(file.path);
        let response = get(&pages(&[]), head).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", file.path);
        assert_eq!(header(&response, ETAG), file.etag);
    }
}

#[actix_web::test]
async fn other_methods_are_left_to_other_services() {
    let response = get(&pages(&[]), test::TestRequest::post().uri("/portal")).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[::core::prelude::v1::test]
fn what_is_not_an_origin_is_refused() {
    for text in [
        "",
        "*",
        "app.example.com",
        "https://",
        "https://a b",
        "https://a; script-src *",
        "javascript:x",
    ] {
        assert!(FrameAncestors::parse(&[text.to_owned()]).is_err(), "{text}");
    }
}
