//! What a TLS connection to the database needs besides libpq: an initialised OpenSSL, and the certificate authorities of the
//! system.

/// Prepares a connection to the database of this URL. Returns the URL that libpq must use.
pub(super) fn prepare(url: &str) -> String {
    // Without a handler at exit, which libpq's own initialisation would register: it frees memory that connections on other
    // threads still use.
    openssl_sys::init();
    // `SSL_CERT_FILE` takes precedence, as it does for every program with OpenSSL.
    let found = openssl_probe::probe().cert_file;
    with_system_roots(url, found.as_ref().and_then(|path| path.to_str()))
}

/// The URL with the file of the system's certificate authorities where it asks for `sslrootcert=system`
/// ([libpq](https://www.postgresql.org/docs/current/libpq-ssl.html)).
///
/// The OpenSSL of this program was built from source and looks for them where no system keeps them. A `sslmode` weaker than
/// `verify-full` is left as it is: libpq refuses it together with `system`.
fn with_system_roots(url: &str, file: Option<&str>) -> String {
    let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
    let mut parameters: Vec<&str> = parameters.split('&').collect();
    let of = |name: &str| {
        let mut named = parameters.iter().filter_map(|one| one.split_once('='));
        named.rfind(|(of, _)| *of == name).map(|(_, value)| value)
    };
    // `system` implies `verify-full`.
    let mode = of("sslmode").unwrap_or("verify-full");
    let (Some("system"), "verify-full", Some(file)) = (of("sslrootcert"), mode, file) else {
        return url.to_owned();
    };
    let root = format!("sslrootcert={file}");
    parameters.retain(|one| !one.starts_with("sslrootcert=") && !one.starts_with("sslmode="));
    parameters.extend([root.as_str(), "sslmode=verify-full"]);
    format!("{base}?{}", parameters.join("&"))
}

#[cfg(test)]
mod tests {
    use super::with_system_roots;

    const FILE: Option<&str> = Some("/etc/ssl/ca.crt");

    #[test]
    fn the_roots_of_the_system_are_a_file_and_imply_the_full_check() {
        for url in [
            "postgres://h/d?sslrootcert=system",
            "postgres://h/d?sslmode=verify-full&sslrootcert=system",
        ] {
            assert_eq!(
                with_system_roots(url, FILE),
                "postgres://h/d?sslrootcert=/etc/ssl/ca.crt&sslmode=verify-full",
                "{url}"
            );
        }
        assert_eq!(
            with_system_roots("postgres://h/d?a=b&sslrootcert=system&c=d", FILE),
            "postgres://h/d?a=b&c=d&sslrootcert=/etc/ssl/ca.crt&sslmode=verify-full"
        );
    }

    #[test]
    fn what_names_other_roots_or_a_weaker_check_is_left_to_libpq() {
        for url in [
            "postgres://h/d",
            "postgres://h/d?sslmode=verify-full",
            "postgres://h/d?sslmode=verify-full&sslrootcert=/own.pem",
            "postgres://h/d?sslrootcert=system&sslmode=require",
        ] {
            assert_eq!(with_system_roots(url, FILE), url);
        }
        let url = "postgres://h/d?sslrootcert=system";
        assert_eq!(with_system_roots(url, None), url, "a system without them");
    }
}
