//! The programs that take a password as an option or an argument.

/// A program, or several with the same options.
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// The word that must stand before the options. `docker -p` has a port, `docker login -p` a password.
    pub(super) subcommand: &'static str,
    pub(super) options: &'static [ProgramOption],
    pub(super) arguments: &'static [Arguments],
}

/// An option whose value is or contains a password.
pub(super) struct ProgramOption {
    pub(super) flag: &'static str,
    pub(super) joint: Joint,
    pub(super) part: Part,
}

/// Whether a space separates an option from its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Joined,
    Spaced,
    Either,
}

/// The part of a value that is a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    BehindColon,
    BehindPercent,
    BehindComma,
    BehindEquals,
    /// Behind `pass:`, as openssl reads it.
    BehindPass,
}

/// Where a password is among the arguments that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// The last one, if a flag with this letter is given.
    Last { flag: char },
    /// The one at this index behind one of these words.
    Behind {
        verbs: &'static [&'static str],
        plain: usize,
    },
    /// The one directly before this option.
    Before { option: &'static str },
    /// The one directly behind this option and its value.
    After { option: &'static str },
    /// The first one.
    First,
    /// The first one, if it is piped to a program that reads a password.
    Piped,
    /// In the first one, behind a slash and before an at sign.
    BehindSlash,
}

const fn option(flag: &'static str, joint: Joint, part: Part) -> ProgramOption {
    ProgramOption { flag, joint, part }
}

const fn program(names: &'static [&'static str], options: &'static [ProgramOption]) -> Program {
    Program {
        names,
        subcommand: "",
        options,
        arguments: &[],
    }
}

const fn with_arguments(names: &'static [&'static str], arguments: &'static [Arguments]) -> Program {
    Program {
        arguments,
        ..program(names, &[])
    }
}

use Joint::{Either, Joined, Spaced};
use Part::{BehindColon, BehindComma, BehindEquals, BehindPass, BehindPercent, Whole};

pub(super) const PROGRAMS: &[Program] = &[
    program(
        &["curl"],
        &[
            option("-u", Either, BehindColon),
            option("-U", Either, BehindColon),
            option("--user", Either, BehindColon),
            option("--proxy-user", Either, BehindColon),
        ],
    ),
    program(
        &["http", "https", "xh"],
        &[
            option("-a", Either, BehindColon),
            option("--auth", Either, BehindColon),
        ],
    ),
    program(
        &["ab"],
        &[
            option("-A", Either, BehindColon),
            option("-P", Either, BehindColon),
        ],
    ),
    program(&["etcdctl"], &[option("--user", Either, BehindColon)]),
    program(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlcheck",
            "mysqlshow",
            "mysqlbinlog",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mycli",
            "xtrabackup",
        ],
        &[option("-p", Joined, Whole)],
    ),
    program(
        &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "sshpass",
            "cqlsh",
            "cypher-shell",
            "beeline",
            "hdbsql",
            "couchbase-cli",
            "evil-winrm",
            "crackmapexec",
            "netexec",
            "nxc",
            "psexec",
            "rdesktop",
            "twine",
            "racadm",
            "influx",
            "ncftp",
            "ncftpput",
            "ncftpget",
            "vncdo",
        ],
        &[option("-p", Either, Whole)],
    ),
    Program {
        subcommand: "login",
        ..program(
            &[
                "docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "crane", "az", "oc",
                "cf", "ibmcloud", "rancher", "argocd", "regctl", "conan",
            ],
            &[option("-p", Either, Whole)],
        )
    },
    program(
        &["redis-cli", "valkey-cli", "keydb-cli"],
        &[option("-a", Either, Whole)],
    ),
    program(
        &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
            "ldapcompare",
            "ldapmodrdn",
        ],
        &[option("-w", Either, Whole)],
    ),
    program(
        &["ldappasswd"],
        &[
            option("-w", Either, Whole),
            option("-s", Either, Whole),
            option("-a", Either, Whole),
        ],
    ),
    program(
        &[
            "smbclient",
            "rpcclient",
            "smbget",
            "smbcacls",
            "smbmap",
            "winexe",
            "wmic",
            "samba-tool",
        ],
        &[
            option("-U", Either, BehindPercent),
            option("--user", Either, BehindPercent),
        ],
    ),
    program(
        &[
            "sqlcmd",
            "osql",
            "bcp",
            "isql",
            "mosquitto_pub",
            "mosquitto_sub",
            "ipmitool",
            "p4",
            "zip",
            "unzip",
        ],
        &[option("-P", Either, Whole)],
    ),
    program(
        &["7z", "7za", "7zz", "rar", "unrar"],
        &[option("-hp", Joined, Whole), option("-p", Joined, Whole)],
    ),
    program(
        &["plink", "pscp", "psftp", "putty", "kitty"],
        &[option("-pw", Spaced, Whole)],
    ),
    program(
        &["xfreerdp", "wfreerdp", "freerdp"],
        &[option("/p:", Joined, Whole)],
    ),
    program(&["cmdkey"], &[option("/pass:", Joined, Whole)]),
    program(
        &["schtasks"],
        &[option("/rp", Spaced, Whole), option("/p", Spaced, Whole)],
    ),
    program(
        &["lftp"],
        &[
            option("-u", Either, BehindComma),
            option("--user", Either, BehindComma),
        ],
    ),
    program(
        &["openssl"],
        &[
            option("-passin", Spaced, BehindPass),
            option("-passout", Spaced, BehindPass),
            option("-pass", Spaced, BehindPass),
            option("-k", Spaced, Whole),
        ],
    ),
    program(
        &["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"],
        &[option("-A", Spaced, Whole), option("-X", Spaced, Whole)],
    ),
    Program {
        subcommand: "secret",
        ..program(
            &["kubectl", "k3s"],
            &[option("--from-literal", Either, BehindEquals)],
        )
    },
    Program {
        subcommand: "nuget",
        ..program(&["dotnet"], &[option("-k", Spaced, Whole)])
    },
    with_arguments(&["htpasswd"], &[Arguments::Last { flag: 'b' }]),
    with_arguments(
        &["rabbitmqctl"],
        &[Arguments::Behind {
            verbs: &["add_user", "change_password", "authenticate_user"],
            plain: 1,
        }],
    ),
    with_arguments(
        &["net", "net1"],
        &[
            Arguments::After { option: "/user:" },
            Arguments::Before { option: "/user:" },
            Arguments::Behind {
                verbs: &["user"],
                plain: 1,
            },
        ],
    ),
    with_arguments(&["echo", "printf"], &[Arguments::Piped]),
    with_arguments(&["ConvertTo-SecureString"], &[Arguments::First]),
    program(
        &["ssh-keygen"],
        &[option("-N", Spaced, Whole), option("-P", Spaced, Whole)],
    ),
    program(&["useradd", "usermod"], &[option("-p", Spaced, Whole)]),
    Program {
        subcommand: "secret",
        ..program(
            &["gh"],
            &[option("-b", Spaced, Whole), option("--body", Either, Whole)],
        )
    },
    with_arguments(
        &["sqlplus", "sqlldr", "expdp", "impdp", "rman"],
        &[Arguments::BehindSlash],
    ),
];
