import{a as T,b as d,c as W,d as Oe,e as u,f as Fe,g as E,h as A,i as Ce}from"./shared-PL53VPD7.js";var Le=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g,Me=n=>(n.codePointAt(0)??0).toString(16).toUpperCase().padStart(4,"0");function b(n){return n.replace(Le,t=>`⟨U+${Me(t)}⟩`)}function me(n){return n.replace(Le,t=>`\\u${Me(t)}`)}var Tt=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,Et=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,ge=/[ \t\n\r]*/y;function Ie(n){return new ve(n).document()}var ve=class{constructor(t){this.text=t}text;#e=0;document(){let t=this.#r(0);return this.#n(ge),this.#e!==this.text.length&&this.#t(),t}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#n(t){t.lastIndex=this.#e;let e=t.exec(this.text)?.[0];return e!==void 0&&(this.#e+=e.length),e}#i(){return this.#n(ge),this.text[this.#e]}#s(t){this.#i()!==t&&this.#t(),this.#e+=1}#r(t){switch(t>200&&this.#t(),this.#i()){case"{":return this.#d(t);case"[":return this.#l(t);case'"':return this.#o();default:return this.#a()}}#o(){let t=this.#n(Et);return t===void 0?this.#t():JSON.parse(t)}#a(){for(let[i,s]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(i,this.#e))return this.#e+=i.length,s;let t=this.#n(Tt);if(t===void 0)return this.#t();let e=Number(t);return/^-?[0-9]+$/.test(t)&&!Number.isSafeInteger(e)?BigInt(t):e}#l(t){let e=[];if(this.#s("["),this.#i()==="]")return this.#e+=1,e;for(;e.push(this.#r(t+1)),this.#i()===",";)this.#e+=1;return this.#s("]"),e}#d(t){let e={};if(this.#s("{"),this.#i()==="}")return this.#e+=1,e;for(;;){this.#n(ge);let i=this.#o();this.#s(":");let s=this.#r(t+1);if(Object.hasOwn(e,i)&&this.#t(),Object.defineProperty(e,i,{value:s,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#s("}"),e}};function q(n){if(typeof n=="bigint")return n.toString();if(Array.isArray(n))return`[${n.map(q).join(",")}]`;if(typeof n=="object"&&n!==null){let t=n;return`{${Object.keys(t).filter(i=>t[i]!==void 0).sort().map(i=>`${JSON.stringify(i)}:${q(t[i])}`).join(",")}}`}return JSON.stringify(n)??"null"}function Ne(n){return/\d{16}/.test(n)?Ie(n):JSON.parse(n)}function M(n,t=""){if(n===void 0)return"";if(typeof n=="bigint")return n.toString();if(n===null||typeof n!="object")return me(JSON.stringify(n));let e=`${t}  `,i=Array.isArray(n),s=i?n.map(a=>M(a,e)):Object.entries(n).map(([a,l])=>`${me(JSON.stringify(a))}: ${M(l,e)}`),[r,o]=i?["[","]"]:["{","}"];return s.length===0?r+o:`${r}
${e}${s.join(`,
${e}`)}
${t}${o}`}function ye(n){return typeof n=="string"?b(n):M(n).replace(/\n\s*/g," ")}var w=class extends Error{constructor(e,i,s=0,r="",o="",a=[],l){super(i);this.kind=e;this.status=s;this.code=r;this.requestId=o;this.details=a;this.#e=l}#e;refuses(e){return this.kind==="expired"&&(this.#e===void 0||this.#e===e)}},At={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},H=class{constructor(t){this.connection=t}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(t,e={},i){return this.json(await this.fetch("GET",t,{parameters:e,signal:i}))}async text(t,e={}){return(await this.fetch("GET",t,{parameters:e})).text().catch(be)}async send(t,e,i,s={}){return this.json(await this.fetch(t,e,{parameters:s,body:i}))}async json(t){let e=await t.text().catch(be);try{return Ne(e)}catch{throw new w("server","the response is not JSON",t.status)}}async fetch(t,e,i={}){let{credential:s,baseUrl:r,projectId:o,environment:a}=this.connection,l=new URLSearchParams;for(let[v,y]of Object.entries(i.parameters??{}))if(!(y===void 0||y===""))for(let z of Array.isArray(y)?y:[y])l.append(v,String(z));this.isMaster&&a==="test"&&/^\/(events|destinations|alerts(\?|$|\/alt_)|log)/.test(e)&&l.set("environment","test");let h={};s&&(h.Authorization=`Bearer ${s}`),this.isMaster&&o&&!e.startsWith("/projects")&&(h["X-Project-Id"]=o),i.accept&&(h.Accept=i.accept);let p={method:t,headers:h,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};i.signal&&(p.signal=i.signal),i.body!==void 0&&(h["Content-Type"]="application/json",p.body=JSON.stringify(i.body));let c=l.toString(),m=`${r.replace(/\/+$/,"")}/api/v1${e}${c&&`?${c}`}`,g=await fetch(m,p).catch(be);if(!g.ok)throw await St(g,s);return g}};function be(n){throw n instanceof DOMException&&n.name==="AbortError"?n:new w("offline","no response from the server")}async function St(n,t){let e=await n.json().catch(()=>({})),i=At[n.status]??"server",s=e.error?.message??`status ${n.status}`;return new w(i,s,n.status,e.error?.code,e.request_id,e.error?.details,t)}function x(n){return n instanceof DOMException&&n.name==="AbortError"}function k(n){return n instanceof w?n:new w("server",n instanceof Error?n.message:String(n))}async function Li(n){try{return await n}catch(t){if(t instanceof w&&["forbidden","not_found"].includes(t.kind))return;throw t}}var _t=/^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/;function Pt(n){return n!==null&&_t.test(n)}async function Ii(n){let{portal:t}=await n.get("/portal");return{name:t.name,logo:Pt(t.logo)?t.logo:null}}var Z=["search","category","action","actor_id","actor_type","target_id","target_type","outcome","tenant_id","start_date","end_date"];function L(n){let t={};for(let e of Z){let i=n[e]?.trim();i&&(t[e]=i)}return t}function De(n){return Object.keys(L(n)).length===0}function I(n){let t=L(n);return t.search===void 0?t:{...t,search_mode:"prefix",search_in:["names","ids","email"]}}function Ue(n){let{search:t,start_date:e,end_date:i,...s}=L(n);return s}function O(n){let t=new URLSearchParams(L(n.filter));return n.event&&t.set("event",n.event),n.isUtc&&t.set("zone","utc"),t.toString()}function je(n,t){let e=i=>O({...i,filter:{...i.filter,search:i.filter.search?"…":""},event:i.event&&"…"});return e(n)===e(t)}function V(n){let t=new URLSearchParams(n.replace(/^#/,"")),e={};for(let s of Z){let r=t.get(s);r&&(e[s]=r)}let i=t.get("event")??"";return{filter:L(e),event:/^evt_[0-9A-Z]{26}$/.test(i)?i:void 0,isUtc:t.get("zone")==="utc"}}function Be(n){return N(n)?.tenant_id}function N(n){let[,t]=n.replace(/^vt_/,"").split(".");if(!(!n.startsWith("vt_")||!t))try{let e=Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),i=>i.charCodeAt(0));return JSON.parse(new TextDecoder().decode(e))}catch{return}}var ze={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter oder IDs von Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(n,t)=>`Filter entfernen: ${n} ${t}`,filterBy:(n,t)=>`Nur Ereignisse mit ${n} ${t} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(n,t)=>t?`${n} Ereignis`:`${n} Ereignisse`,loadedCount:n=>`${n} Ereignisse geladen`,newEvents:(n,t)=>t?`${n} neues Ereignis`:`${n} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(n,t)=>`${n}: ${t}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",liveOff:"Nicht live",asOf:n=>`Stand ${n}`,relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",download:"Herunterladen",downloadExcel:"Für Excel herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:n=>`Wird heruntergeladen … ${n}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",linkToCopy:"Link zu dieser Ansicht",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",claimedAt:"Übernommen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",onBehalfOf:"Im Namen von",furtherTargets:"Weitere Ziele",outcome:"Ergebnis",outcomes:{success:"Erfolg",failure:"Fehler",denied:"Verweigert"},email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",checkShown:"Gezeigte prüfen",checkingShown:(n,t)=>`Prüfung ${n} von ${t} …`,checkedShown:(n,t,e)=>`Nachgewiesen: ${n}. Nicht nachgewiesen: ${t}. Ohne Nachweis: ${e}.`,position:(n,t)=>`Stelle ${n} von ${t} im Log`,hidden:n=>`Für Sie nicht sichtbar und daher nicht geprüft: ${n}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var we={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words or ids of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(n,t)=>`Remove filter ${n}: ${t}`,filterBy:(n,t)=>`Show only events with ${n} ${t}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(n,t)=>t?`${n} event`:`${n} events`,loadedCount:n=>`${n} events loaded`,newEvents:(n,t)=>t?`${n} new event`:`${n} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(n,t)=>`${n}: ${t}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",liveOff:"Not live",asOf:n=>`as of ${n}`,relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",download:"Download",downloadExcel:"Download for Excel",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:n=>`Downloading … ${n}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",linkToCopy:"Link to this view",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",claimedAt:"Claimed",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",onBehalfOf:"On behalf of",furtherTargets:"Further targets",outcome:"Outcome",outcomes:{success:"Success",failure:"Failure",denied:"Denied"},email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",checkShown:"Verify shown events",checkingShown:(n,t)=>`Verifying ${n} of ${t} …`,checkedShown:(n,t,e)=>`Verified: ${n}. Not verified: ${t}. Without a proof: ${e}.`,position:(n,t)=>`Position ${n} of ${t} in the log`,hidden:n=>`Not visible to you, and so not checked: ${n}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var He=new Map([["en",we],["de",ze]]);function Hi(){return[...He.keys()]}function xe(n){for(let t of n)for(let e of[t.toLowerCase(),t.toLowerCase().split("-")[0]??""]){let i=He.get(e);if(i)return{name:t,messages:i}}return{name:"en",messages:we}}async function G(n){try{return await navigator.clipboard.writeText(n),!0}catch{return Rt(n)}}function Rt(n){let t=!1,e=s=>{s.clipboardData?.setData("text/plain",n),s.preventDefault(),t=!0};document.addEventListener("copy",e,{capture:!0,once:!0});let i=document.execCommand("copy");return document.removeEventListener("copy",e,{capture:!0}),i&&t}var X=class extends E{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[A,T`
:host { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--bg); overflow-wrap: anywhere; }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; }
/* Names have up to 512 characters. All of them are below. */
header > div:first-child > * { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 3px 12px; margin: 0; }
dt { color: var(--muted); min-width: 92px; }
dd { margin: 0; min-width: 0; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; max-height: 60vh; }
.notice { margin-top: 12px; }
@media print {
.buttons, section:has(> button) > button { display: none; }
.body { overflow: visible; }
header > div:first-child > * { -webkit-line-clamp: none; }
pre { max-height: none; }
}
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(t){t.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:t,formats:e}=this,{messages:i}=e,{actor:s,target:r,targets:o,context:a,outcome:l}=t;return d`
<header part="details-header">
<div>
<h3 tabindex="-1">${t.action??t.id}</h3>
<span class="muted">${this.sentence()}</span>
</div>
<div class="buttons">
<button class="plain icon" aria-label=${i.previousEvent} title=${i.previousEvent} @click=${()=>this.step(-1)}>↑</button>
<button class="plain icon" aria-label=${i.nextEvent} title=${i.nextEvent} @click=${()=>this.step(1)}>↓</button>
<button class="plain icon" aria-label=${i.close} title=${i.close} @click=${()=>this.dispatchEvent(new CustomEvent("close"))}>✕</button>
</div>
</header>
<div class="body" tabindex="0" role="group" aria-label=${i.details}>
<section aria-label=${i.proof.title}>
<audit-log-proof .event=${t} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${e} exportparts="proof"></audit-log-proof>
</section>
${t.redacted?d`<p class="notice">${i.redacted}</p>`:u}
        <section>
          <dl>
            ${this.row(i.occurredAt,e.full(t.occurred_at))} ${this.row(i.receivedAt,e.full(t.received_at))}
            ${this.row(i.claimedAt,t.claimed_at&&e.full(t.claimed_at))}
            ${this.row(i.category,t.category&&(i.categories[t.category]??t.category),"category",t.category)}
            ${this.row(i.action,t.action,"action")} ${this.row(i.outcome,l&&(i.outcomes[l]??l),"outcome",l)}
            ${this.row(i.tenant,t.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(t.changes)}
        ${this.section(i.actor,[this.row(i.name,s?.name),this.row(i.id,s?.id,"actor_id"),this.row(i.email,s?.email),this.row(i.type,s?.type&&(i.actorTypes[s.type]??s.type),"actor_type",s?.type),this.row(i.onBehalfOf,Ve(s?.on_behalf_of))],s)}
        ${this.section(i.target,[this.row(i.name,r?.name),this.row(i.id,r?.id,"target_id"),this.row(i.type,r?.type,"target_type"),this.row(i.furtherTargets,o?.slice(1).map(Ve).filter(Boolean).join(", "))],r??o?.[0]??void 0)}
        ${this.section(i.context,[this.row(i.ipAddress,a?.ip_address),this.row(i.location,a?.location),this.row(i.userAgent,a?.user_agent),this.row(i.session,a?.session_id)],a)}
        ${this.section(i.metadata,Ot(t.metadata).map(([h,p])=>this.row(h,p)),t.metadata)}
        <section>
          <dl>${this.row(i.id,t.id)} ${this.row(i.contentHash,t.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?i.hideJson:i.rawJson}</button>
          <button @click=${()=>this.copy(M(t))}>${this.copied?i.copied:i.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?d`<pre tabindex="0" aria-label=${i.rawJson}>${M(t)}</pre>`:u}
        </section>
      </div>
    `}sentence(){let{actor:t,target:e,occurred_at:i}=this.event,s=t?.name??t?.id,r=e?.name??e?.id,o=this.formats.relative(i,Date.now());return b([r?`${s??"?"} → ${r}`:s,o].filter(Boolean).join(" · "))}step(t){this.dispatchEvent(new CustomEvent("step",{detail:t}))}section(t,e,i){return i&&Object.keys(i).length>0?d`<section><h4>${t}</h4><dl>${e}</dl></section>`:u}row(t,e,i,s=e){if(e===void 0||e==="")return u;let{messages:r}=this.formats,o={field:i,value:s},a=b(e),l=i?d`<button class="value" title=${r.filterBy(t,a)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${a}</button>`:a;return d`<dt>${b(t)}</dt><dd>${l}</dd>`}changes(t){if(!t||t.length===0)return u;let{messages:e}=this.formats,i=s=>s===void 0?d`<span class="muted">${e.absent}</span>`:ye(s);return d`<section>
<h4>${e.changes}</h4>
<table>
<thead><tr><th scope="col">${e.field}</th><th scope="col">${e.before}</th><th scope="col">${e.after}</th></tr></thead>
<tbody>
${t.map(s=>d`<tr><th scope="row">${b(s.field)}</th><td class="before">${i(s.before)}</td><td class="after">${i(s.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(t){this.copied=await G(t)?this.formats.messages.copied:""}};function Ve(n){return[n?.name,n?.id].filter(Boolean).join(" · ")}function Ot(n){let t=[],e=(i,s)=>{if(!(typeof s=="object"&&s!==null&&!Array.isArray(s)&&Object.keys(s).length>0))return void t.push([i,ye(s)]);for(let[o,a]of Object.entries(s))e(i?`${i}.${o}`:o,a)};return n&&e("",n),t}var J=["auth","access","mutation","admin","security","system"];var K=class{constructor(t,e,i){this.language=t;this.messages=e;this.buckets=new Map;this.zone=i?"UTC":new Intl.DateTimeFormat().resolvedOptions().timeZone;let s=i?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(t,{...s,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(t,{...s,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(t,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(t)}number(t){return this.numbers.format(t)}absolute(t){return this.absoluteTime.format(new Date(t))}full(t){return this.fullTime.format(new Date(t))}relative(t,e){let i=Math.round((Date.parse(t)-e)/1e3),s=Math.abs(i);if(s<10)return this.messages.justNow;let r=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=r.find(([,l])=>s>=l)??["second",1];return this.relativeTime.format(Math.trunc(i/a),o)}bucket(t,e,i){let s=`${e} ${i}`,r=this.buckets.get(s);if(!r){let o={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric"},week:{year:"numeric",month:"short",day:"numeric"},month:{year:"numeric",month:"long"}};r=new Intl.DateTimeFormat(this.language,{timeZone:i,...o[e]}),this.buckets.set(s,r)}return r.format(new Date(t))}bytes(t){let e=t<1e6?"kilobyte":"megabyte",i=t/(e==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:e,maximumFractionDigits:1}).format(i)}};function Je(n,t,e){let i=new Date(n);if(t==="minute")return i.getTime()+6e4;if(t==="hour")return i.getTime()+36e5;let[s,r]={day:[0,1],week:[0,7],month:[1,0]}[t];return e==="UTC"?Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+s,i.getUTCDate()+r):new Date(i.getFullYear(),i.getMonth()+s,i.getDate()+r).getTime()}function Ke(n,t){if(!n||Number.isNaN(Date.parse(n)))return"";let e=new Date(n);return(t?e:new Date(e.getTime()-e.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function We(n,t,e){if(!n)return;let i=Date.parse(t?`${n}Z`:n);return Number.isNaN(i)?void 0:new Date(i+(e?999:0)).toISOString()}var Ft=350,qe={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},Y=class extends E{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[A,T`
:host { display: block; }
.row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin-top: 8px; }
.search { flex: 1 1 180px; }
label { display: flex; flex-direction: column; gap: 2px; min-width: 0; font-size: 0.88em; color: var(--muted); }
label > :is(input, select) { font-size: var(--size); color: var(--text); width: 100%; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
.chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
.chip span:last-of-type { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
.dates { display: flex; flex-wrap: wrap; gap: 8px; }
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(t,e){let i={...this.filter};e?i[t]=e:delete i[t],this.change(i)}change(t){clearTimeout(this.typing),this.filter=t,this.dispatchEvent(new CustomEvent("filter-change",{detail:L(t)}))}onInput(t,e){let{value:i}=e.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(t,i),Ft)}onEnter(t,e){e.key==="Enter"&&this.set(t,e.target.value)}rangeName(){let{start_date:t,end_date:e}=this.filter;return this.isCustomRange?"custom":!t&&!e?"all":this.chosen&&!e&&this.chosen.start===t?this.chosen.name:"custom"}onRange(t){let{value:e}=t.target;if(this.isCustomRange=e==="custom",e==="custom")return;let{start_date:i,end_date:s,...r}=this.filter;if(e==="all")return this.change(r);let o=e,a=new Date(Date.now()-qe[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...r,start_date:a})}render(){let{messages:t}=this.formats,e=this.rangeName(),i=Object.keys(this.filter).length;return d`
<div class="row" role="search" part="filters">
<input
class="search"
type="search"
aria-label=${t.search}
placeholder=${`${t.search}: ${t.searchHint}`}
          maxlength="256"
          .value=${this.filter.search??""}
          @input=${s=>this.onInput("search",s)}
          @keydown=${s=>this.onEnter("search",s)}
        />
        <select aria-label=${t.category} @change=${s=>this.set("category",s.target.value)}>
          <option value="" .selected=${!this.filter.category}>${t.allCategories}</option>
          ${J.map(s=>d`<option value=${s} .selected=${this.filter.category===s}>${this.categoryLabel(s)}</option>`)}
        </select>
        <select aria-label=${t.range} @change=${this.onRange}>
          ${["all",...Object.keys(qe),"custom"].map(s=>d`<option value=${s} .selected=${e===s}>${t.ranges[s]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?t.fewerFilters:t.moreFilters}
        </button>
        ${i>0?d`<button class="plain" @click=${()=>this.clear()}>${t.clearFilters}</button>`:u}
        <slot></slot>
      </div>
      ${e==="custom"?this.dates():u}
      ${this.isExpanded?this.fields():u} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(t){let e=this.formats.messages.categories[t]??t,i=this.top?.category?.find(s=>s.value===t);return i?`${e} (${this.formats.number(i.count)})`:e}dates(){let{messages:t}=this.formats,e=(i,s)=>d`
<label>
${s} (${this.formats.zone})
<input
type="datetime-local"
step="1"
.value=${Ke(this.filter[i],this.isUtc)}
@change=${r=>this.set(i,We(r.target.value,this.isUtc,i==="end_date"))}
/>
</label>
`;return d`<div class="dates">${e("start_date",t.from)} ${e("end_date",t.to)}</div>`}fields(){let{messages:t}=this.formats,e=[{field:"action",label:t.action,hint:t.actionHint,suggestions:"action"},{field:"actor_id",label:t.actorId,suggestions:"actor_id"},{field:"target_id",label:t.targetId},{field:"target_type",label:t.targetType,suggestions:"target_type"}];return this.hasTenants&&e.push({field:"tenant_id",label:t.tenant,suggestions:"tenant_id"}),d`<div class="grid">
${e.map(i=>this.textField(i))} ${this.choice("actor_type",t.actorType,t.actorTypes)}
${this.choice("outcome",t.outcome,t.outcomes)}
</div>`}choice(t,e,i){return d`<label>
${e}
<select @change=${s=>this.set(t,s.target.value)}>
<option value="" .selected=${!this.filter[t]}>${this.formats.messages.any}</option>
${Object.entries(i).map(([s,r])=>d`<option value=${s} .selected=${this.filter[t]===s}>${r}</option>`)}
      </select>
    </label>`}textField({field:t,label:e,hint:i,suggestions:s}){let r=(s&&this.top?.[s])??[],o=`suggestions-${t}`;return d`<label>
${e}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${i??""}
list=${r.length>0?o:u}
.value=${this.filter[t]??""}
@input=${a=>this.onInput(t,a)}
@keydown=${a=>this.onEnter(t,a)}
/>
</label>
${r.length>0?d`<datalist id=${o}>${r.map(({value:a,count:l})=>d`<option value=${a}>${this.formats.number(l)}</option>`)}</datalist>`:u}`}chips(){let{messages:t}=this.formats,e={search:t.search,category:t.category,action:t.action,actor_id:t.actorId,actor_type:t.actorType,target_id:t.targetId,target_type:t.targetType,outcome:t.outcome,tenant_id:t.tenant,start_date:t.from,end_date:t.to},i=Z.filter(r=>this.filter[r]&&r!=="search"&&r!=="category");if(i.length===0)return u;let s=(r,o)=>r.endsWith("_date")?this.formats.absolute(o):b(o);return d`<div class="chips">
${i.map(r=>{let o=s(r,this.filter[r]??"");return d`<button class="chip" title=${t.removeFilter(e[r],o)} @click=${()=>this.set(r,void 0)}>
          <span class="muted">${e[r]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var _=64,Q=class extends E{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([e])=>{e&&(this.width=Math.floor(e.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},asOf:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[A,T`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${_}px; print-color-adjust: exact; }
@media (max-height: 500px) { svg { height: ${_/2}px; } .legend { display: none; } }
.old svg { opacity: 0.5; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; gap: 2px 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.caption b.old { color: var(--warn); }
.period { margin-inline-start: auto; text-align: end; }
.zoom { min-height: 20px; padding: 0 6px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let e=this.renderRoot.querySelector(".chart");e&&this.observer.observe(e)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(e){e.has("summary")&&(this.bars=this.summary?Ct(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(e){let i=this.bars[e];if(!i||!this.summary)return"";let{messages:s}=this.formats,r=s.eventCount(this.formats.number(i.count),i.count===1);return s.bucket(this.name(i),r)}selectionLabel(){let[e,i]=this.selection();if(e===i)return this.label(e);let s=this.bars.slice(e,i+1).reduce((a,l)=>a+l.count,0),{messages:r}=this.formats,o=`${this.name(this.bars[e])} – ${this.name(this.bars[i])}`;return r.bucket(o,r.eventCount(this.formats.number(s),s===1))}name(e){return e&&this.summary?this.formats.bucket(e.start,this.summary.interval,this.summary.zone):""}selection(){let e=this.anchor??this.active;return[Math.min(e,this.active),Math.max(e,this.active)]}render(){let{messages:e}=this.formats,i=this.bars.length,s=Math.max(1,...this.bars.map(c=>c.count)),r=i?this.width/i:0,o=r>4?1:0,[a,l]=this.selection(),h=this.bars.map((c,m)=>this.stack(c,m*r,Math.max(r-o,.5),s)),p=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return d`
<div
class="chart ${this.asOf?"old":""}"
part="histogram"
role="slider"
tabindex="0"
aria-label=${e.histogram}
aria-valuemin="0"
aria-valuemax=${Math.max(i-1,0)}
aria-valuenow=${Math.max(this.active,0)}
aria-valuetext=${this.active>=0?this.selectionLabel():e.histogramHelp}
title=${e.histogramHelp}
@keydown=${this.onKey}
@focus=${()=>!this.isDragging&&this.moveTo(this.active<0?i-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointercancel=${()=>this.endDrag()}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${_}" preserveAspectRatio="none" aria-hidden="true">
${h}
<line class="base" x1="0" x2=${this.width} y1=${_-.5} y2=${_-.5}></line>
${p||this.active>=0&&r>0?W`<rect class="selection" x=${a*r} y="0" width=${(l-a+1)*r} height=${_}></rect>`:u}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?d`<b aria-live="off">${this.selectionLabel()}</b>`:u} ${this.legend()}
        <span class="period">
          ${this.asOf?d`<b class="old">${this.asOf}</b> · `:u}${this.caption()}
          ${this.isZoomed?d`<button class="plain zoom" @click=${()=>this.zoomOut()}>${e.zoomOut}</button>`:u}
        </span>
      </div>
    `}legend(){let e=J.filter(l=>this.bars.some(h=>h.categories?.[l])),i=this.formats.messages.categories,[s,r]=this.selection(),o=this.active<0?[]:this.bars.slice(s,r+1),a=l=>{let h=o.reduce((p,c)=>p+(c.categories?.[l]??0),0);return h>0?` ${this.formats.number(h)}`:""};return d`<span class="legend">${e.map(l=>d`<span><span class="dot ${l}"></span>${i[l]??l}${a(l)}</span>`)}</span>`}caption(){let[e,i]=[this.bars[0],this.bars.at(-1)];return!e||!i||!this.summary?u:this.active>=0?this.summary.zone:`${this.name(e)} – ${this.name(i)} · ${this.summary.zone}`}stack(e,i,s,r){if(e.count===0)return u;let o=(_-4)/r;if(!e.categories){let l=Math.max(e.count*o,1.5);return W`<rect class="all" x=${i} width=${s} y=${_-l} height=${l}></rect>`}let a=_;return J.map(l=>{let h=e.categories?.[l]??0;if(h===0)return u;let p=Math.max(h*o,1.5);return a-=p,W`<rect class=${l} x=${i} width=${s} y=${Math.max(a,0)} height=${p}></rect>`})}moveTo(e,i){i?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(e,this.bars.length-1))}onKey(e){let s=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:s,ArrowLeft:-s,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[e.key];if(o!==void 0)this.moveTo(this.active+o,e.shiftKey);else if(e.key==="Enter"||e.key===" ")this.zoom();else if(e.key==="Escape"&&this.isZoomed)this.zoomOut();else return;e.preventDefault(),e.stopPropagation()}indexAt(e){let i=e.currentTarget.getBoundingClientRect(),s=Math.max(0,Math.min(e.clientX-i.left,i.width-1));return Math.floor(s/i.width*this.bars.length)}onDown(e){e.button!==0||this.bars.length===0||(e.currentTarget.setPointerCapture(e.pointerId),this.isDragging=!0,this.active=this.indexAt(e),this.anchor=this.active)}onMove(e){this.bars.length>0&&(this.active=this.indexAt(e))}endDrag(){this.isDragging=!1,this.anchor=void 0}onUp(e){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(e),this.zoom())}zoom(){let[e,i]=this.selection(),[s,r]=[this.bars[e],this.bars[i]];if(!s||!r)return;let o={start:new Date(s.start).toISOString(),end:new Date(r.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function Ct({buckets:n,interval:t,zone:e}){let i=n.slice(1).map(({start:s})=>Date.parse(s));return n.map((s,r)=>({...s,end:i[r]??Je(s.start,t,e)}))}var $=class extends Error{constructor(e,i,s){super(i,s);this.code=e}code;name="VerificationError"};function f(n,t,e){if(!n)throw new $(t,e)}var Lt=new TextEncoder;function D(n){return Lt.encode(n)}function ee(...n){let t=new Uint8Array(n.reduce((i,s)=>i+s.length,0)),e=0;for(let i of n)t.set(i,e),e+=i.length;return t}function P(n,t){if(n.length!==t.length)return!1;let e=0;for(let i=0;i<n.length;i+=1)e|=n[i]^t[i];return e===0}function $e(n){return Array.from(n,t=>t.toString(16).padStart(2,"0")).join("")}function U(n,t,e){return f(typeof n=="string"&&n.length===2*e&&/^[0-9a-f]*$/.test(n),"malformed",`${t} is not ${2*e} hexadecimal digits`),Uint8Array.from({length:e},(i,s)=>Number.parseInt(n.slice(2*s,2*s+2),16))}function F(n,t){f(typeof n=="string","malformed",`${t} is not base64`);let e;try{e=atob(n)}catch(i){throw new $("malformed",`${t} is not base64`,{cause:i})}return f(btoa(e)===n,"malformed",`${t} is not base64`),Uint8Array.from(e,i=>i.charCodeAt(0))}function te(){let n=globalThis.crypto?.subtle;if(n===void 0)throw new $("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return n}async function S(...n){return new Uint8Array(await te().digest("SHA-256",ee(...n)))}var Mt=128,It=Uint8Array.of(0),Nt=Uint8Array.of(1);function ke(n){return S(It,n)}function j(n,t){return S(Nt,n,t)}function Ze(n,t){return f(Array.isArray(n)&&n.length<=Mt,"malformed",`${t} is not a list of hashes`),n.map(e=>{let i=F(e,`a hash of ${t}`);return f(i.length===32,"malformed",`a hash of ${t} is not 32 bytes long`),i})}async function Te(n){let{index:t,size:e}=n;f(Number.isSafeInteger(t)&&t>=0&&t<e,"not_included","the log has no such position");let i=t,s=e-1,r=n.leaf;for(let o of n.hashes){if(f(s!==0,"not_included","the proof has too many hashes"),i%2===1||i===s)for(r=await j(o,r);i%2===0&&i!==0;)i=Math.floor(i/2),s=Math.floor(s/2);else r=await j(r,o);i=Math.floor(i/2),s=Math.floor(s/2)}f(s===0,"not_included","the proof has too few hashes"),f(P(r,n.root),"not_included","the event is not in the log at this position")}async function Dt(n){let{from:t,to:e}=n;if(f(t.size<=e.size,"inconsistent","the later checkpoint has fewer events"),t.size===0||t.size===e.size){f(n.hashes.length===0,"inconsistent","the proof has too many hashes"),f(t.size===0||P(t.root,e.root),"inconsistent","two roots of one size");return}let s=Number.isInteger(Math.log2(t.size))&&2**Math.round(Math.log2(t.size))===t.size?[t.root,...n.hashes]:[...n.hashes];f(s.length>0,"inconsistent","the proof has too few hashes");let r=t.size-1,o=e.size-1;for(;r%2===1;)r=Math.floor(r/2),o=Math.floor(o/2);let[a,l]=[s[0],s[0]];for(let h of s.slice(1)){if(f(o!==0,"inconsistent","the proof has too many hashes"),r%2===1||r===o)for(a=await j(h,a),l=await j(h,l);r%2===0&&r!==0;)r=Math.floor(r/2),o=Math.floor(o/2);else l=await j(l,h);r=Math.floor(r/2),o=Math.floor(o/2)}f(o===0,"inconsistent","the proof has too few hashes"),f(P(a,t.root)&&P(l,e.root),"inconsistent","the later checkpoint does not continue the earlier one: history was rewritten")}var Ut=128*1024,jt=100,Ge="— ",Bt=1;async function Xe(n){let t=a=>{throw new $("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[e="",i="",...s]=n.trim().split("+"),r=(()=>{try{return{id:U(i,"the key id",4),bytes:F(s.join("+"),"the key")}}catch(a){return t(a)}})();(!Ye(e)||r.bytes.length!==33||r.bytes[0]!==Bt)&&t();let o=(await S(D(`${e}
`),r.bytes)).slice(0,4);return f(P(o,r.id),"invalid_key","the key id is not that of the key"),{name:e,id:r.id,publicKey:r.bytes.slice(1)}}function Ye(n){return n!==""&&!/[\s+\u0000-\u001f]/u.test(n)}async function zt(n){let t=typeof n=="string"?[n]:n;return f(t.length>0,"invalid_key","no key is given"),Promise.all(t.map(Xe))}function Ht(n){let t="a line after the text of the note is not a signature";f(n.startsWith(Ge),"malformed",t);let[e="",i,...s]=n.slice(Ge.length).split(" ");f(Ye(e)&&s.length===0,"malformed",t);let r=F(i,"a signature");return f(r.length>4,"malformed",t),{name:e,id:r.slice(0,4),bytes:r.slice(4)}}async function Vt(n,t,e){let i;try{i=await te().importKey("raw",n.publicKey,{name:"Ed25519"},!1,["verify"])}catch(s){throw new $("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:s})}return te().verify({name:"Ed25519"},i,e,D(t))}async function Qe(n,t){f(typeof n=="string"&&n.length<=Ut,"malformed","the note is too long"),f(!/[\u0000-\u0009\u000b-\u001f]/.test(n),"malformed","the note has control characters");let e=n.lastIndexOf(`

`);f(e>=0&&n.endsWith(`
`)&&n.length>e+2,"malformed","the note has no signatures");let i=n.slice(0,e+1),s=n.slice(e+2,-1).split(`
`);f(s.length<=jt,"malformed","the note has too many signatures");let r;for(let o of s.map(Ht)){let a=t.find(({name:l,id:h})=>l===o.name&&P(h,o.id));a!==void 0&&(f(await Vt(a,i,o.bytes),"invalid_signature","a signature is not valid"),r??=a)}return f(r!==void 0,"invalid_signature","the note is not signed by the given key"),{text:i,key:r}}async function Ee(n,t,e){let{text:i,key:s}=await Qe(n,await zt(t)),[r="",o="",a="",...l]=i.slice(0,-1).split(`
`);f(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let h=Number(o);f(Number.isSafeInteger(h),"malformed","the size of the checkpoint is too large");let p=F(a,"the root of the checkpoint");return f(p.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),f(h>0||P(p,await S()),"malformed","the root is not that of the empty log"),f(l.every(c=>c!==""),"malformed","the checkpoint has an empty line"),e!==void 0&&f(r===e,"other_log",`this is a checkpoint of ${r}, not of ${e}`),f(r.startsWith(`${s.name}/`),"other_log",`${r} is not a log of ${s.name}`),{origin:r,size:h,root:p,signedBy:s.name}}function Ae(n){let t=n.origin.slice(n.signedBy.length+1),e=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(t);return f(e!==null,"other_log",`${n.origin} is not the log of a project or of one of its tenants`),{log:e[1],tenantLabel:e[2]}}var R=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],et={kind:["action","actor.type","category","target.type","outcome"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name","actor.on_behalf_of"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name","targets"]},Jt=["id","occurred_at","received_at","tenant_id","claimed_at"],Kt=new Set(["claimed_at","outcome","actor.on_behalf_of","targets"]),ie=16,Wt=32;function qt(n,t){let e=n;for(let i of t.split(".")){if(typeof e!="object"||e===null||!Object.hasOwn(e,i))return;e=e[i]}return e}function tt(n,t){let e=t.flatMap(i=>{let s=qt(n,i);return s!==void 0?[q(s)]:Kt.has(i)?[]:[""]});return D(e.join(`
`))}async function Zt(n){let t=Array.from({length:Math.ceil(R.length/2)},(i,s)=>S(Uint8Array.of(4),n,Uint8Array.of(s))),e=ee(...await Promise.all(t));return R.map((i,s)=>e.slice(ie*s,ie*(s+1)))}function it(n,t,e){return S(Uint8Array.of(2),e,Uint8Array.of(t),tt(n,et[R[t]]))}function nt(n,t,e){return S(Uint8Array.of(3),D(`${e}
`),...t,tt(n,Jt))}async function Se(n,t,e){let i=await Zt(U(t,"content_salt",ie)),s=await Promise.all(i.map((r,o)=>it(n,o,r)));return nt(n,s,e)}async function _e(n,t,e){f(Object.keys(t).length===R.length&&R.every(s=>Object.hasOwn(t,s)),"malformed","the proof does not have the eleven parts of an event");let i=R.map((s,r)=>{let o=t[s];return f(typeof o=="object"&&o!==null,"malformed",`the part ${s} is not an object`),"hash"in o?(f(!("salt"in o),"malformed",`the part ${s} has both a salt and a hash`),U(o.hash,`the hash of the part ${s}`,Wt)):it(n,r,U(o.salt,`the salt of the part ${s}`,ie))});return nt(n,await Promise.all(i),e)}async function ne(n,t,e){let i,s=e?.trim()||void 0;try{i=await n.get(`/events/${t.id}/proof`),!s&&!n.isViewer&&(s=(await n.text("/log/key")).trim())}catch(r){let o=k(r),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return Xt(t,i,s,!!e?.trim(),Gt(n))}function Gt(n){let t=N(n.connection.credential)?.sub;return t?`${t}/live`:void 0}async function Xt(n,t,e,i,s){let r=[],o=async(c,m)=>{try{return r.push({name:c,state:"ok",detail:await m()}),!0}catch(g){if(g instanceof $&&g.code==="unsupported_runtime")throw g;return r.push({name:c,state:"failed",detail:g instanceof Error?g.message:String(g)}),!1}},a=ti(t.checkpoint),l=a?ii(a.origin):void 0;try{if(await o("identity",async()=>Yt(n,t,l,s)),await o("content",()=>Qt(n,t,l)),await o("inclusion",()=>ei(t,a)),e){let c;await o("signature",async()=>(c=await Ee(t.checkpoint,e,a?.origin),Ae(c),c.signedBy))}else r.push({name:"signature",state:"skipped",detail:""})}catch(c){return{outcome:"unavailable",steps:r,reason:"unsupported",message:k(c).message,hidden:[]}}r.push({name:"key",state:i&&r.at(-1)?.state==="ok"?"ok":"skipped",detail:e??""});let p={outcome:r.some(c=>c.state==="failed")?"failed":i?"verified":"consistent",steps:r,hidden:ni(t),position:t.seq,key:e};return a&&Object.assign(p,{origin:a.origin,size:a.size}),p}function Yt(n,t,e,i){if(n.content_hash!==t.content_hash)throw new Error("the proof is one of another event");if(!e)throw new Error("the checkpoint does not name a log of a project");if(i&&e!==i)throw new Error(`the proof is one of the log ${e}`);return n.id}async function Qt(n,t,e){if(!e)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:i,parts:s}=t,o=typeof i=="string"?await Se(n,i,e):await _e(n,s??{},e),a=`sha256:${$e(o)}`;if(a!==t.content_hash)throw new Error(`the fields shown give ${a}, the log has ${t.content_hash}`);return a}async function ei(n,t){if(!t)throw new Error("the checkpoint is not in the form of one");let e=n.content_hash.replace(/^sha256:/,""),i=Uint8Array.from(e.match(/../g)??[],o=>Number.parseInt(o,16)),s=Ze(n.inclusion,"the inclusion proof"),r=await ke(i);return await Te({index:n.seq,size:t.size,leaf:r,hashes:s,root:F(t.root,"the root")}),`${n.seq} / ${t.size}`}function ti(n){if(typeof n!="string")return;let[t="",e="",i=""]=n.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(e)?{origin:t,size:Number(e),root:i}:void 0}function ii(n){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(n)?.[1]}function ni(n){let{content_salt:t,parts:e}=n;return typeof t=="string"||!e?[]:R.filter(i=>Object.hasOwn(e[i]??{},"hash"))}var se=class extends E{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[A,T`
:host { display: block; overflow-wrap: anywhere; }
.mark { border-inline-start: 4px solid var(--border); padding: 8px 12px; border-radius: var(--radius); background: var(--surface); }
.mark.verified { border-color: var(--good); background: var(--good-bg); }
.mark.consistent { border-color: var(--accent); background: var(--selected); }
.mark.failed { border-color: var(--bad); background: var(--bad-bg); }
.mark.unavailable { border-color: var(--warn); }
h4 { display: flex; align-items: center; gap: 8px; margin: 0 0 4px; font-size: 1em; }
.verified h4 { color: var(--good); } .consistent h4 { color: var(--accent); } .failed h4 { color: var(--bad); } .unavailable h4 { color: var(--warn); }
p { margin: 4px 0; }
ul { margin: 8px 0; padding: 0; list-style: none; }
li { padding-block: 2px; padding-inline-start: 22px; position: relative; }
li::before { position: absolute; inset-inline-start: 2px; }
li.ok::before { content: "✓"; color: var(--good); } li.failed::before { content: "✗"; color: var(--bad); font-weight: 700; }
li.skipped::before { content: "–"; }
.detail { display: block; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; }
`]}willUpdate(e){(e.has("event")||e.has("pinnedKey"))&&this.check()}async check(){let e=++this.run;this.report=void 0;let i=await ne(this.api,this.event,this.pinnedKey);if(e!==this.run)return;this.report=i;let s={event:this.event.id,outcome:i.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:s,bubbles:!0,composed:!0}))}render(){let{messages:e}=this.formats,i=e.proof,{report:s}=this;if(!s)return d`<div class="mark" role="status"><p class="spinner">${i.running}</p></div>`;let r={verified:i.verified,consistent:i.consistent,failed:i.failed,unavailable:i.unavailable},o={verified:i.verifiedText,consistent:i.consistentText,failed:i.failedText,unavailable:this.reason(s)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},l=s.outcome==="verified"||s.outcome==="consistent";return d`
<div class="mark ${s.outcome}" part="proof proof-${s.outcome}" role=${s.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[s.outcome]}</span>${r[s.outcome]}</h4>
<p>${o[s.outcome]}</p>
${s.outcome==="consistent"?d`<p>${s.key?i.unpinnedText:i.noKeyText}</p>`:u}
        ${s.hidden.length>0?d`<p>${i.hidden(s.hidden.join(", "))}</p>`:u}
        ${s.steps.length>0?d`<details ?open=${!l}>
<summary>${i.checks}</summary>
${s.outcome==="verified"?d`<p>${i.pinnedText}</p>`:u}
              <ul class="steps">${s.steps.map(h=>this.step(h))}</ul>
              ${this.facts(s)}
            </details>`:u}
        <details>
          <summary>${i.notProven}</summary>
          <ul>${i.notProvenList.map(h=>d`<li>${h}</li>`)}</ul>
        </details>
        ${l?u:d`<p><button @click=${()=>this.check()}>${i.again}</button></p>`}
      </div>
    `}reason(e){let i=this.formats.messages.proof,r={forbidden:i.tier,unsupported:i.unsupported,offline:this.formats.messages.offlineText,other:""}[e.reason??"other"]||e.message||"";return`${i.unavailableText} ${r}`}step({name:e,state:i,detail:s}){let r=this.formats.messages.proof;return d`<li class=${i}>
${r.steps[e]}${i==="skipped"?d` <span class="muted">(${r.skipped})</span>`:u}
      ${i==="failed"?d`<code class="detail">${s}</code>`:u}
    </li>`}facts({position:e,size:i,origin:s,key:r}){let o=this.formats.messages.proof;return e===void 0||i===void 0?u:d`
<p>${o.position(this.formats.number(e+1),this.formats.number(i))}</p>
<dl>
${s?d`<dt class="muted">${o.signedBy}</dt><dd class="mono">${s}</dd>`:u}
        ${r?d`<dt class="muted">${o.key}</dt><dd class="mono">${r}</dd>`:u}
      </dl>
    `}};var si=4e3,re=class{constructor(t){this.host=t}show(t){clearTimeout(this.timer),this.state=t,this.host.requestUpdate()}async copy(){let t=await G(this.host.link);this.show(t?"copied":"refused"),t&&(this.host.announcement=this.host.formats.messages.copied,this.timer=setTimeout(()=>this.show(void 0),si))}toast(){return this.state==="copied"?d`<div class="toast" aria-hidden="true">${this.host.formats.messages.copied}</div>`:u}message(){if(this.state!=="refused")return u;let{messages:t}=this.host.formats;return d`<div class="notice" role="status"><label for="link">${t.linkToCopy}</label>
<input id="link" readonly .value=${this.host.link} @focus=${e=>e.target.select()} />
<button @click=${()=>this.show(void 0)}>${t.close}</button></div>`}};function ri(n){return{for:"excel",separator:new Intl.NumberFormat(navigator.language).formatToParts(1.5).some(({type:i,value:s})=>i==="decimal"&&s===",")?"semicolon":"comma",time_zone:n}}function oi(n){let[,t]=/;\s*filename\*\s*=\s*UTF-8'[^']*'([^\s;]+)/i.exec(n)??[];try{if(t)return decodeURIComponent(t)}catch{}let[,e,i]=/;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(n)??[];return e?.replace(/\\(.)/g,"$1")??i}async function st(n,t,e,i,s,r){let o=e==="excel"?ri(i):{format:e},a=await n.fetch("GET","/events/export",{parameters:{...I(t),...o},signal:r}),l=oi(a.headers.get("content-disposition")??"")||`audit-events.${e==="jsonl"?"jsonl":"csv"}`,h=[],p=0,c=a.body?.getReader();for(;;){let m=await c?.read().catch(ai);if(!m||m.done)break;h.push(m.value),p+=m.value.length,s(p)}li(new Blob(h,{type:a.headers.get("content-type")??"application/octet-stream"}),l)}function ai(n){throw x(n)?n:new w("offline","the export was interrupted")}function li(n,t){let e=URL.createObjectURL(n),i=document.createElement("a");i.href=e,i.download=t,i.click(),setTimeout(()=>URL.revokeObjectURL(e),6e4)}var oe=class{constructor(t){this.host=t;this.isMenuOpen=!1;this.failure=""}abort(){this.running?.abort()}openMenu(t){this.isMenuOpen=t,this.host.requestUpdate()}async save(t,e,i,s){this.openMenu(!1),this.abort();let r=new AbortController;this.running=r,this.failure="";let o=a=>{this.bytes=a,this.host.requestUpdate()};o(0);try{await st(t,e,i,s,o,r.signal)}catch(a){x(a)||(this.failure=k(a).message)}finally{o(void 0)}}menu(t,e,{messages:i,zone:s}){return d`<div class="menu" @focusout=${a=>{a.currentTarget.contains(a.relatedTarget)||this.openMenu(!1)}} @keydown=${a=>{a.key==="Escape"&&(this.openMenu(!1),a.currentTarget.querySelector("button")?.focus())}}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.openMenu(!this.isMenuOpen)}>${i.download}</button>
${this.isMenuOpen?d`<div>
            <button @click=${()=>this.save(t,e,"excel",s)}>${i.downloadExcel}</button>
            <button @click=${()=>this.save(t,e,"csv",s)}>${i.downloadCsv}</button>
            <button @click=${()=>this.save(t,e,"jsonl",s)}>${i.downloadJson}</button>
          </div>`:u}
    </div>`}message(t){let{messages:e}=t;return this.bytes!==void 0?d`<div class="notice good" role="status">${e.downloading(t.bytes(this.bytes))}
<button @click=${()=>this.abort()}>${e.cancel}</button></div>`:this.failure?d`<div class="notice bad" role="alert">${e.downloadFailed}: ${this.failure}</div>`:u}};var rt={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},ot=n=>(...t)=>({_$litDirective$:n,values:t}),ae=class{constructor(t){}get _$AU(){return this._$AM._$AU}_$AT(t,e,i){this._$Ct=t,this._$AM=e,this._$Ci=i}_$AS(t,e){return this.update(t,e)}update(t,e){return this.render(...e)}};var{I:di}=Fe,at=n=>n;var lt=()=>document.createComment(""),B=(n,t,e)=>{let i=n._$AA.parentNode,s=t===void 0?n._$AB:t._$AA;if(e===void 0){let r=i.insertBefore(lt(),s),o=i.insertBefore(lt(),s);e=new di(r,o,n,n.options)}else{let r=e._$AB.nextSibling,o=e._$AM,a=o!==n;if(a){let l;e._$AQ?.(n),e._$AM=n,e._$AP!==void 0&&(l=n._$AU)!==o._$AU&&e._$AP(l)}if(r!==s||a){let l=e._$AA;for(;l!==r;){let h=at(l).nextSibling;at(i).insertBefore(l,s),l=h}}}return e},C=(n,t,e=n)=>(n._$AI(t,e),n),ci={},dt=(n,t=ci)=>n._$AH=t,ct=n=>n._$AH,le=n=>{n._$AR(),n._$AA.remove()};var ht=(n,t,e)=>{let i=new Map;for(let s=t;s<=e;s++)i.set(n[s],s);return i},ut=ot(class extends ae{constructor(n){if(super(n),n.type!==rt.CHILD)throw Error("repeat() can only be used in text expressions")}dt(n,t,e){let i;e===void 0?e=t:t!==void 0&&(i=t);let s=[],r=[],o=0;for(let a of n)s[o]=i?i(a,o):o,r[o]=e(a,o),o++;return{values:r,keys:s}}render(n,t,e){return this.dt(n,t,e).values}update(n,[t,e,i]){let s=ct(n),{values:r,keys:o}=this.dt(t,e,i);if(!Array.isArray(s))return this.ut=o,r;let a=this.ut??=[],l=[],h,p,c=0,m=s.length-1,g=0,v=r.length-1;for(;c<=m&&g<=v;)if(s[c]===null)c++;else if(s[m]===null)m--;else if(a[c]===o[g])l[g]=C(s[c],r[g]),c++,g++;else if(a[m]===o[v])l[v]=C(s[m],r[v]),m--,v--;else if(a[c]===o[v])l[v]=C(s[c],r[v]),B(n,l[v+1],s[c]),c++,v--;else if(a[m]===o[g])l[g]=C(s[m],r[g]),B(n,s[c],s[m]),m--,g++;else if(h===void 0&&(h=ht(o,g,v),p=ht(a,c,m)),h.has(a[c]))if(h.has(a[m])){let y=p.get(o[g]),z=y!==void 0?s[y]:null;if(z===null){let Re=B(n,s[c]);C(Re,r[g]),l[g]=Re}else l[g]=C(z,r[g]),B(n,s[c],z),s[y]=null;g++}else le(s[m]),m--;else le(s[c]),c++;for(;g<=v;){let y=B(n,l[v+1]);C(y,r[g]),l[g++]=y}for(;c<=m;){let y=s[c++];y!==null&&le(y)}return this.ut=o,dt(n,l),Oe}});function pt(n){return d`<div class="line" role="row" id="row-${n}" aria-rowindex=${n+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`}function ft(n,t,e,i){let{position:s,isActive:r,isOpen:o,isFresh:a,isRelative:l,hasTenant:h,open:p}=t,c=[r&&"active",o&&"open",a&&"fresh",i.isTampered(n)&&"tampered"],m=l?e.relative(n.occurred_at,Date.now()):e.absolute(n.occurred_at),{category:g}=n,v=g?e.messages.categories[g]??g:"–";return d`<div class="line ${c.filter(Boolean).join(" ")}" role="row" part="row" id="row-${s}" aria-rowindex=${s+2} aria-selected=${o} @click=${p}>
<div role="gridcell" class="when"><time datetime=${n.occurred_at} title=${e.full(n.occurred_at)}>${m}</time></div>
<div role="gridcell" class="action">${g?d`<span class="dot ${g}"></span>`:u}<span>${n.action??"–"}</span>${i.mark(n,e)}</div>
    <div role="gridcell" class="category secondary">${v}</div>
    <div role="gridcell" class="who" title=${b(n.actor?.id??"")}>${b(n.actor?.name??n.actor?.id??"–")}</div>
    <div role="gridcell" class="what secondary" title=${b(n.target?.id??"")}>${b(n.target?.name??n.target?.id??"–")}</div>
    ${h?d`<div role="gridcell" class="tenant secondary">${b(n.tenant_id)}</div>`:u}
  </div>`}var hi=34,ui=56,pi=710,fi=810,mi=700,gi=30,mt=12,vi=2e3,yi=80,de=class{constructor(t){this.host=t;this.active=0;this.isNarrow=!1;this.isSmall=!1;this.isPrinting=!1;this.arrivedCount=0;this.resize=new ResizeObserver(([t])=>{t&&(this.isSmall=t.contentRect.width<mi),this.host.requestUpdate()});this.onPrint=({type:t})=>{this.isPrinting=t==="beforeprint",this.host.requestUpdate()}}connect(){this.resize.observe(this.host),addEventListener("beforeprint",this.onPrint),addEventListener("afterprint",this.onPrint)}disconnect(){this.resize.disconnect(),removeEventListener("beforeprint",this.onPrint),removeEventListener("afterprint",this.onPrint)}get printedCount(){return Math.min(this.host.events.length,vi)}get element(){return this.host.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?ui:hi}reset(){this.arrivedCount=0,this.active=0,this.element&&(this.element.scrollTop=0)}async insert(t){for(let i of t)i<=this.active&&(this.active+=1);let{element:e}=this;t.length>0&&e&&e.scrollTop>0?(this.host.requestUpdate(),await this.host.updateComplete,e.scrollTop+=t.length*this.rowHeight,this.arrivedCount+=t.length):this.active=Math.max(0,Math.min(this.active,this.host.events.length-1))}fitWidth(){let{element:t,rowHeight:e}=this;if(!t?.clientWidth)return;let i=t.clientWidth<(this.host.hasTenants?fi:pi);if(i===this.isNarrow)return;let{scrollTop:s,clientHeight:r}=t,o=this.active*e-s,a=o>=0&&o<r?this.active:s/e;this.isNarrow=i,this.host.requestUpdate(),this.host.updateComplete.then(()=>t.scrollTop=s+a*(this.rowHeight-e))}window(){if(this.isPrinting)return[0,this.printedCount];let{length:t}=this.host.events,e=this.element?.scrollTop??0,i=this.element?.clientHeight||800,s=Math.max(0,Math.floor(e/this.rowHeight)-mt);return[Math.min(s,t),Math.min(t,Math.ceil((e+i)/this.rowHeight)+mt)]}layOut(){let{events:t,renderRoot:e}=this.host,{pages:i}=t;if(!i)return;this.fitWidth();let[s,r]=this.window();e.querySelector(".before-rows")?.style.setProperty("height",`${s*this.rowHeight}px`),e.querySelector(".after-rows")?.style.setProperty("height",`${(i.length-r)*this.rowHeight}px`),r+yi>i.length&&t.canReadMore&&t.more(),i.show(s,r).then(o=>o&&this.host.requestUpdate(),o=>t.onBackground(o))}seen(){let{element:t}=this,{pages:e}=this.host.events;if(!e||!t)return[];let i=Math.floor(t.scrollTop/this.rowHeight),s=Math.ceil(t.clientHeight/this.rowHeight);return Array.from({length:s},(r,o)=>e.at(i+o)).filter(r=>r!==void 0)}template(t){let{formats:e,hasTenants:i,events:s}=this.host,{messages:r}=e,[o,a]=this.window(),l=Array.from({length:a-o},(c,m)=>o+m),h=ut(l,c=>c,c=>this.line(c,t.at(c))),p=[r.time,r.action,r.category,r.actor,r.target,...i?[r.tenant]:[]];return d`<div class="list ${this.isNarrow?"narrow":""}">
${this.arrivedCount>0?d`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${r.newEvents(e.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:u}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${r.events} aria-colcount=${p.length}
        aria-rowcount=${t.isComplete?t.length+1:-1} aria-busy=${s.isLoading}
        aria-activedescendant=${this.active>=o&&this.active<a?`row-${this.active}`:u}
        @scroll=${()=>this.onScroll()} @keydown=${c=>this.onKey(c)}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${p.map(c=>d`<div role="columnheader">${c}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${h}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${t.isComplete?r.endOfLog:s.isLoadingMore?r.loadingMore:u}</div>
      </div>
    </div>`}line(t,e){if(!e)return pt(t);let{host:i}=this,s={position:t,isActive:t===this.active,isOpen:e.id===i.openedId,isFresh:i.events.freshIds.has(e.id),isRelative:!i.isAbsolute||this.isNarrow,hasTenant:i.hasTenants,open:()=>i.open(t)};return ft(e,s,i.formats,i.checks)}onScroll(){this.element?.scrollTop===0&&(this.arrivedCount=0),this.host.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.element?.scrollTo({top:0}),this.element?.focus(),this.host.requestUpdate()}onKey(t){let e=Math.max(1,Math.floor((this.element?.clientHeight??400)/this.rowHeight)-2),s={ArrowDown:1,ArrowUp:-1,PageDown:e,PageUp:-e,Home:-1/0,End:1/0}[t.key];if(s!==void 0)this.moveBy(s);else if(t.key==="Enter"||t.key===" ")this.host.open(this.active,!0);else if(t.key==="Escape"&&this.host.openedId)this.host.close();else return;t.preventDefault()}moveBy(t){let{element:e}=this,{length:i}=this.host.events;if(!e||i===0)return;this.active=Math.max(0,Math.min(this.active+t,i-1));let s=this.active*this.rowHeight,r=s+this.rowHeight+(this.isNarrow?0:gi);s<e.scrollTop?e.scrollTop=s:r>e.scrollTop+e.clientHeight&&(e.scrollTop=r-e.clientHeight),this.host.requestUpdate(),this.host.openedId&&!this.isSmall&&this.host.open(this.active)}};var gt=200,vt=40;function yt(n,t){return n.occurred_at===t.occurred_at?n.id>t.id:n.occurred_at>t.occurred_at}var ce=class{constructor(t,e,i){this.api=t;this.filter=e;this.signal=i;this.pages=[];this.next=null;this.isStarted=!1}continueWith(t){this.api=t}get length(){return this.pages.reduce((t,e)=>t+e.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(t){let e=t;for(let i of this.pages){if(e<i.count)return i.events?.[e];e-=i.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let t=this.next,e=await this.read(t);for(;e.events.length===0&&e.has_more;)t=e.cursor,e=await this.read(t);this.isStarted=!0,this.next=e.has_more?e.cursor:null;let i=e.events.at(-1);i&&this.pages.push({cursor:t,count:e.events.length,events:e.events,lastId:i.id})}read(t){let e={...I(this.filter),limit:gt,cursor:t??void 0};return this.api.get("/events",e,this.signal)}async show(t,e){let i=0,s=this.pages.map(l=>{let h=i;return i+=l.count,{page:l,start:h,end:i}}),r=({start:l,end:h})=>l<e&&h>t,o=s.filter(l=>r(l)&&!l.page.events);await Promise.all(o.map(({page:l})=>this.readAgain(l)));let a=this.pages.filter(l=>l.events).length;if(a>vt){let l=(t+e)/2,h=({start:c,end:m})=>Math.abs((c+m)/2-l),p=s.filter(c=>c.page.events&&c.start>0).sort((c,m)=>h(m)-h(c));for(let{page:c}of p.slice(0,a-vt))c.events=void 0}return o.length>0}async readAgain(t){let{events:e}=await this.read(t.cursor),i=e.findIndex(s=>s.id===t.lastId);t.events=i<0?e:e.slice(0,i+1),t.count=t.events.length}async refresh(){let{events:t}=await this.read(null),e=this.pages[0];if(!e?.events)return t.length>0?void 0:[];let i=new Set(e.events.map(l=>l.id)),s=e.events.at(-1),r=this.pages.length===1&&this.isComplete,o=t.filter(l=>!i.has(l.id)&&(r||s&&yt(l,s)));if(o.length===t.length&&t.length>=gt)return;let a=new Set(o.map(l=>l.id));return e.events=[...e.events,...o].sort((l,h)=>yt(l,h)?-1:1),e.count=e.events.length,e.lastId=e.events.at(-1)?.id??"",e.events.flatMap((l,h)=>a.has(l.id)?[h]:[])}};var bt=1e3,bi=3e4;async function wt(n,t,e,i){let s="latest",r=bt;for(;!i.aborted;){try{for await(let o of xi(n,t,s,i)){if(r=bt,e.connected(!0),o.event==="end"){let{code:a,message:l}=JSON.parse(o.data);throw new w("expired",l,401,a,"",[],n.connection.credential)}o.id&&(s=o.id),o.event==="audit"&&e.arrived()}}catch(o){if(i.aborted||x(o))return;let a=k(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){e.connected(!1),e.ended(a);return}a.kind==="offline"&&e.lost()}e.connected(!1),await wi(r*(1+Math.random()),i),r=Math.min(r*2,bi)}}function wi(n,t){return new Promise(e=>{let i=setTimeout(e,n);t.addEventListener("abort",()=>(clearTimeout(i),e()),{once:!0})})}async function*xi(n,t,e,i){let s={...Ue(t),after:e},o=(await n.fetch("GET","/events/feed",{parameters:s,accept:"text/event-stream",signal:i})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:l,value:h}=await o.read();if(l)return;a+=h;let p=a.split(`

`);a=p.pop()??"";for(let c of p)yield $i(c)}}finally{await o.cancel().catch(()=>{})}}function $i(n){let t={event:"",data:"",id:""};for(let e of n.split(`
`)){let i=e.indexOf(": "),s=e.slice(0,i);(s==="event"||s==="data"||s==="id")&&(t[s]=e.slice(i+2))}return t}var xt="UTC";async function Pe(n,t,e,i){try{return{...await n.get("/events/summary",{...t,split:"category",time_zone:e},i),zone:e}}catch(s){if(s instanceof w&&s.details.some(({field:o})=>o==="time_zone")&&e!==xt)return Pe(n,t,xt,i);throw s}}var ki=400,Ti=1e4,Ei=5e3,he=class{constructor(t){this.host=t;this.isLoading=!1;this.isLoadingMore=!1;this.isConnected=!1;this.isOffline=!1;this.isSummaryOld=!1;this.readAt=0;this.countedAt=0;this.isWaiting=!1;this.freshIds=new Set;this.loading=new AbortController;this.following=new AbortController;this.summaryReadAt=0;this.askedAt=-1/0;this.askedFor=""}set(t){Object.assign(this,t),this.host.requestUpdate()}get signal(){return this.loading.signal}get length(){return this.pages?.length??0}stop(){clearTimeout(this.arrivals),this.arrivals=void 0,this.loading.abort(),this.following.abort()}forget(){this.stop(),this.next=void 0,this.isSummaryOld=!1,this.set({pages:void 0,summary:void 0,isOffline:!1}),this.host.eventsStarted()}start(){this.stop(),this.loading=new AbortController,this.set({isWaiting:!1,failure:void 0,isConnected:!1,isLoading:!1}),this.host.token&&this.load(new ce(this.host.api,this.host.filter,this.signal),this.signal)}async load(t,e){this.next=t,this.set({isLoading:!0}),this.readSummary(e);try{await t.more()}catch(i){if(x(i))return;this.fail(k(i)),this.isOffline&&this.followLive();return}finally{e.aborted||this.set({isLoading:!1})}e.aborted||(this.next=void 0,this.readAt=Date.now(),this.set({pages:t,isOffline:!1}),this.host.eventsStarted(),this.host.eventsLoaded(t.length),this.followLive())}get oldSince(){if(!(!this.isOffline&&!this.failure&&!this.isSummaryOld))return this.summary?this.countedAt:this.readAt}get isLive(){return!this.host.paused&&!this.failure&&!this.isOffline}lost(){this.length>0&&this.set({isOffline:!0,isConnected:!1})}isSameReader(t){let[e,i]=[N(t??""),N(this.host.token)];return!!(e&&i&&e.sub===i.sub&&e.tenant_id===i.tenant_id&&e.tier===i.tier&&this.length>0)}resume(){if(this.next)return this.start();this.set({isWaiting:!1,failure:void 0}),this.pages?.continueWith(this.host.api),this.followLive()}recount(){this.pages&&this.readSummary(this.signal)}async readSummary(t){this.summaryReadAt=Date.now();try{let e=await Pe(this.host.api,I(this.host.filter),this.host.formats.zone,t);this.countedAt=Date.now(),this.isSummaryOld=!1,this.set({summary:e})}catch(e){if(x(e))return;["not_found","forbidden"].includes(k(e).kind)&&this.set({summary:void 0}),this.isSummaryOld=this.summary!==void 0,this.host.requestUpdate()}}followLive(){if(this.following.abort(),this.set({isConnected:!1}),this.host.paused||!this.host.token)return;this.following=new AbortController;let t=!0,e={arrived:()=>this.onArrival(),connected:i=>{if(i&&this.next)return this.start();i&&(t||this.isOffline)&&this.onArrival(),i&&this.isOffline&&(this.summaryReadAt=0),t&&=!i,this.set(i?{isConnected:i,isOffline:!1}:{isConnected:i})},lost:()=>this.lost(),ended:i=>{i.kind==="expired"?this.fail(i):this.host.paused=!0}};wt(this.host.api,this.host.filter,e,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.readArrivals()},ki)}async readArrivals(){let{pages:t,signal:e}=this;if(!(!t||this.host.paused))try{let i=await t.refresh();if(e.aborted)return;if(!i)return this.start();this.readAt=Date.now(),this.failure=void 0;for(let s of i){let r=t.at(s);r&&this.freshIds.add(r.id)}await this.host.eventsArrived(i),Date.now()-this.summaryReadAt>Ti&&this.readSummary(e),this.host.requestUpdate()}catch(i){this.onBackground(i)}}async more(){this.set({isLoadingMore:!0});try{await this.pages?.more()}catch(t){this.onBackground(t)}finally{this.set({isLoadingMore:!1})}}get canReadMore(){return!!(this.pages&&!this.pages.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline)}onBackground(t){x(t)||this.fail(k(t))}fail(t){if(t.kind==="offline"&&this.length>0){this.lost();return}t.kind==="expired"&&!t.refuses(this.host.token)||(this.set({failure:t,isOffline:!1}),t.kind==="expired"&&(this.following.abort(),this.set({isConnected:!1}),this.askForToken(t)))}async askForToken(t){let{host:e}=this;if(this.askedFor===e.token)return;this.askedFor=e.token;let i=new CustomEvent("audit-token-expired",{detail:{code:t.code},bubbles:!0,composed:!0,cancelable:!0}),s=!e.dispatchEvent(i),r=Date.now()-this.askedAt<Ei;if(this.set({isWaiting:s||!!e.refreshToken&&!r}),!(!e.refreshToken||r)){this.askedAt=Date.now();try{e.token=await e.refreshToken()}catch{this.set({isWaiting:!1})}}}};var Ai={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},ue=class{constructor(t){this.host=t;this.outcomes=new Map}clear(){this.outcomes.clear(),this.progress=void 0}note(t,e){this.outcomes.set(t,e),this.host.requestUpdate()}isTampered(t){return this.outcomes.get(t)==="failed"}show(t){this.progress=t,this.host.requestUpdate()}async run(t,e,i,s,r){if(this.progress?.isRunning)return;let{proof:o}=s.messages,a=p=>s.number(p),l={verified:0,consistent:0,failed:0,unavailable:0};for(let[p,c]of t.entries()){this.show({text:o.checkingShown(a(p+1),a(t.length)),isRunning:!0,isBad:l.failed>0});let{outcome:m}=await ne(e,c,i);if(r.aborted)return;l[m]+=1,this.note(c,m)}let h=o.checkedShown(a(l.verified+l.consistent),a(l.failed),a(l.unavailable));this.show({text:h,isRunning:!1,isBad:l.failed>0})}mark(t,{messages:{proof:e}}){let i=this.outcomes.get(t);if(!i)return u;let s={verified:e.verified,consistent:e.consistent,failed:e.failed,unavailable:e.unavailable}[i];return d`<span class="mark ${i}" role="img" aria-label=${s} title=${s}>${Ai[i]}</span>`}message({messages:t}){if(!this.progress)return u;let{text:e,isRunning:i,isBad:s}=this.progress;return d`<div class="notice ${s?"bad":"good"}" role=${s?"alert":"status"}>${e}
${i?u:d`<button @click=${()=>this.show(void 0)}>${t.close}</button>`}</div>`}};function pe(n,t,e=u){return d`<div class="state" part="state"><h3>${n}</h3><p>${t}</p>${e}</div>`}function $t(n,t,e,i){let s={expired:t.expired,offline:t.offline,busy:t.busy,forbidden:t.forbidden},r={expired:e?t.expiredWaiting:t.expiredText,offline:t.offlineText};return d`
<h3>${s[n.kind]??t.failed}</h3>
<p>${r[n.kind]??n.message}</p>
${n.details.map(({field:o,message:a})=>d`<p><code>${o}</code> ${a}</p>`)}
    ${n.requestId?d`<p class="mono">${t.requestId}: ${n.requestId}</p>`:u}
    ${n.kind==="expired"?u:d`<button @click=${i}>${t.retry}</button>`}
  `}var kt=T`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden auto;
}
.root { display: flex; flex-direction: column; flex: 1; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages > * { margin: 8px 12px; }
/* The list never vanishes: where its minimum does not fit, the viewer scrolls, or the page around it. */
.main { display: flex; flex: 1 0 auto; min-height: 200px; contain: size; position: relative; }
@media (max-height: 500px) { .main { min-height: min(300px, 100dvh - 40px); } }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) 110px minmax(100px, 1fr) minmax(100px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) 110px minmax(100px, 1fr) minmax(100px, 1fr) minmax(90px, 0.7fr); }
.head { height: 30px; color: var(--muted); font-size: 0.88em; font-weight: 600; background: var(--surface);
border-bottom: 1px solid var(--border); }
.columns { position: sticky; top: 0; z-index: 1; }
.line { height: 34px; border-bottom: 1px solid color-mix(in srgb, var(--border) 55%, transparent); cursor: pointer; }
.line:hover { background: var(--surface); }
.line.active { box-shadow: inset 3px 0 var(--accent); }
[dir="rtl"] .line.active { box-shadow: inset -3px 0 var(--accent); }
.line.open { background: var(--selected); }
.line > div { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .action { display: flex; align-items: center; gap: 8px; font-weight: 500; }
.line.tampered { background: var(--bad-bg); }
.line .mark { flex: none; font-weight: 700; color: var(--muted); } .line .mark.verified { color: var(--good); }
.line .mark.consistent { color: var(--accent); } .line .mark.failed { color: var(--bad); }
.line .action span:not(.dot, .mark) { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state { justify-content: safe center; overflow-y: auto; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
dialog { flex: 0 0 min(46%, 560px); min-width: 0; position: static; width: auto; height: auto; max-width: none; max-height: none; margin: 0; padding: 0;
border: 0; border-inline-start: 1px solid var(--border); background: var(--bg); color: inherit; }
dialog[open] { display: flex; outline: none; }
dialog:modal { position: fixed; inset: 0 0 0 auto; width: min(100%, 700px); height: 100%; border: 0; overscroll-behavior: contain; }
[dir="rtl"] dialog:modal { inset: 0 auto 0 0; }
audit-log-event { flex: 1; }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live.on::before { background: var(--good); }
.old { color: var(--warn); font-weight: 600; }
@media not print { .on-paper { display: none; } }
.toast { position: absolute; inset-block-end: 12px; inset-inline: 0; margin: auto; width: fit-content; z-index: 3; padding: 8px 16px;
border-radius: var(--radius); border: 1px solid transparent; background: var(--text); color: var(--bg); box-shadow: 0 4px 14px rgb(0 0 0 / 0.3); }
.messages input { flex: 1 1 200px; color: var(--text); }
@media (prefers-reduced-motion: no-preference) { .grid[aria-busy="true"] { opacity: 0.6; transition: opacity 0.2s 0.3s; } }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template: "action category when" 22px "who what what" 20px / minmax(0, 1fr) auto auto; gap: 0 10px; height: 56px; align-content: center; }
.narrow .action { grid-area: action; } .narrow .when { grid-area: when; } .narrow .category { grid-area: category; font-size: 0.9em; }
.narrow :is(.when, .category, .what) { text-align: end; }
.narrow .who { grid-area: who; } .narrow .what { grid-area: what; max-width: 44cqi; justify-self: end; } .narrow .tenant { display: none; }
.list { container-type: inline-size; }
@container (min-width: 480px) {
.tenants .narrow .line { grid-template-areas: "action category when" "who what tenant"; }
.tenants .narrow .tenant { display: block; grid-area: tenant; max-width: 24cqi; text-align: end; }
.tenants .narrow .what { max-width: 32cqi; }
}
.small .tools { margin-inline-start: 0; }
.small .menu > div { inset-inline: 0 auto; }
@media (max-height: 500px) { .top { padding-block: 6px; } .chart { padding-top: 4px; } footer { padding-block: 2px; } }
@media (forced-colors: active) {
.line.open { outline: 2px solid Highlight; outline-offset: -2px; }
.line.active:not(.open) { outline: 1px dashed; outline-offset: -2px; }
.live::before { border: 1px solid; forced-color-adjust: none; } .live.on::before { background: currentColor; }
}
@media print {
:host { height: auto; min-height: 0; overflow: visible; }
.main { display: block; contain: none; min-height: 0; }
.grid { overflow: visible; }
.before-rows, .after-rows, .end, .arrived, .top, .chart, footer .tools, .toast, .list:has(+ dialog) { display: none !important; }
.line { break-inside: avoid; } .line.active { box-shadow: none; }
dialog { border: 0; }
dialog:modal { position: static; width: auto; height: auto; }
}
`;var Si=15e3,fe=class extends E{constructor(){super();this.api=new H({baseUrl:"",credential:""});this.formats=new K("en",xe(["en"]).messages,!1);this.checks=new ue(this);this.events=new he(this);this.grid=new de(this);this.downloads=new oe(this);this.copyLink=new re(this);this.onHash=()=>{!this.fragment||O(V(location.hash))===O(this.view)||this.applyView(V(location.hash))};this.onOnline=()=>{(this.events.isOffline||this.events.failure?.kind==="offline")&&this.events.start()};this.onOffline=()=>this.events.lost();this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isAbsolute=!0,this.isUtc=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},announcement:{state:!0}}}static{this.styles=[A,Ce,kt]}connectedCallback(){super.connectedCallback(),this.grid.connect(),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Si),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),addEventListener("offline",this.onOffline),this.fragment&&this.applyView(V(location.hash)),this.hasUpdated&&this.events.start()}disconnectedCallback(){super.disconnectedCallback(),this.grid.disconnect(),clearInterval(this.clock),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),removeEventListener("offline",this.onOffline),this.events.stop(),this.downloads.abort()}get link(){return`${location.href.split("#")[0]}#${O(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted,isUtc:this.isUtc}}applyView(e){O({filter:e.filter})!==O({filter:this.filter})&&(this.filter=e.filter),this.wanted=e.event,this.isUtc=e.isUtc??!1,this.opened=void 0}showView(){if(this.fragment&&this.link!==location.href){let e=je(V(location.hash),this.view);history[e?"replaceState":"pushState"](history.state,"",this.link)}this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:O(this.view)},bubbles:!0,composed:!0}))}willUpdate(e){if(e.has("lang")||e.has("isUtc")||!this.hasUpdated){let o=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:a,messages:l}=xe([this.lang,o,...navigator.languages].filter(p=>p)),h=navigator.languages.find(p=>p.split("-")[0]===a.split("-")[0]);this.formats=new K(a.includes("-")?a:h??a,l,this.isUtc)}let s=["baseUrl","token","projectId","environment"].some(o=>e.has(o));s&&(this.api=new H({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment}));let{events:r}=this;e.has("token")&&r.isSameReader(e.get("token"))?r.resume():s||e.has("filter")?(s&&(this.opened=void 0,r.forget()),r.start()):e.has("isUtc")&&r.recount(),e.has("wanted")&&this.wanted&&r.pages&&!r.isLoading&&this.openById(this.wanted),e.has("paused")&&!s&&r.pages&&r.followLive()}updated(e){(e.has("filter")||e.has("opened")||e.has("isUtc"))&&this.showView(),this.placeDetails(),this.grid.layOut()}placeDetails(){let e=this.renderRoot.querySelector("dialog");!e||e.open&&e.matches(":modal")===this.grid.isSmall||(e.close(),this.grid.isSmall?e.showModal():e.open=!0)}async reload(){await this.updateComplete,this.events.start()}eventsStarted(){this.grid.reset(),this.checks.clear()}eventsLoaded(e){this.events.failure||(this.announcement=this.formats.messages.loadedCount(this.formats.number(e))),this.wanted&&this.openById(this.wanted)}eventsArrived(e){return this.grid.insert(e)}get openedId(){return this.opened?.id}get hasTenants(){return!Be(this.token)}verifyShown(){this.checks.run(this.grid.seen(),this.api,this.pinnedKey,this.formats,this.events.signal)}onProof(e){this.opened&&this.checks.note(this.opened,e.detail.outcome)}render(){let{messages:e}=this.formats,{pages:i}=this.events;return d`
<div class="root ${this.grid.isSmall?"small":""} ${this.hasTenants?"tenants":""}" dir=${e.direction} lang=${this.formats.language}>
${this.token?this.head():u}
<div class="messages">${this.messages()}</div>
<div class="main">
${i&&i.length>0?this.grid.template(i):this.emptyState()}
${this.opened?d`<dialog aria-label=${e.details} @cancel=${this.onCancel} @keydown=${this.onDetailsKey}><audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${s=>this.step(s.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof}
              ></audit-log-event></dialog>`:u}
          ${this.copyLink.toast()}
        </div>
        ${this.token?this.foot():u}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}head(){let{messages:e}=this.formats,{summary:i,isConnected:s,isLive:r}=this.events,o=this.paused||r&&s?e.live:r?e.liveConnecting:e.liveOff;return d`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${i?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${a=>this.filter=a.detail}
>
<div class="tools">
<button
class="live ${r&&s?"on":""}" aria-pressed=${r} title=${r?e.livePause:e.liveStart}
@click=${()=>this.switchLive()}
>${o}</button>
${this.downloads.menu(this.api,this.filter,this.formats)}
</div>
</audit-log-filters>
</div>
${i&&i.buckets.length>0?d`<div class="chart">
            <audit-log-histogram
              .summary=${i} .formats=${this.formats} .asOf=${this.asOf} ?narrow=${this.grid.isSmall}
              .isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
              @zoom=${a=>this.filter={...this.filter,start_date:a.detail.start,end_date:a.detail.end}}
              @zoom-out=${()=>this.zoomOut()}
            ></audit-log-histogram>
          </div>`:u}
    `}switchLive(){let{isLive:e}=this.events;!e&&!this.paused?this.events.start():this.paused=e}get asOf(){let{oldSince:e,length:i}=this.events;return e&&i>0?this.formats.messages.asOf(this.formats.absolute(new Date(e).toISOString())):void 0}zoomOut(){let{start_date:e,end_date:i,...s}=this.filter;this.filter=s}messages(){let{messages:e}=this.formats,{failure:i,isOffline:s,length:r}=this.events,o=d`<div class="notice" role="status"><b>${e.offline}</b><span>${e.offlineText}</span>
<button @click=${()=>this.events.start()}>${e.retry}</button></div>`;return d`${s?o:u}
${i&&r>0?d`<div class="notice bad" role="alert">${this.failureText(i)}</div>`:u}
      ${this.copyLink.message()} ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`}emptyState(){let{messages:e}=this.formats,{failure:i,isLoading:s,pages:r}=this.events;return this.token?i?d`<div class="state" part="state" role="alert">${this.failureText(i)}</div>`:s||!r?d`<div class="state" part="state" role="status"><p class="spinner">${e.loading}</p></div>`:De(this.filter)?pe(e.empty,e.emptyText):pe(e.emptyFilter,e.emptyFilterText,d`<button @click=${()=>this.filter={}}>${e.clearFilters}</button>`):pe(e.noToken,e.noTokenText)}failureText(e){return $t(e,this.formats.messages,this.events.isWaiting,()=>this.events.start())}foot(){let{messages:e}=this.formats,{pages:i,summary:s,length:r}=this.events,o=s?.total,a=o??r,l=o===void 0&&!i?.isComplete?e.loadedCount(this.formats.number(r)):e.eventCount(this.formats.number(a),a===1),{printedCount:h}=this.grid;return d`<footer part="footer">
<span>${r>0||o!==void 0?l:u}${this.asOf?d` · <b class="old">${this.asOf}</b>`:u}</span>
      ${h<a?d`<span class="on-paper">${e.loadedCount(this.formats.number(h))}</span>`:u}
      <div class="tools">
        <button class="plain" ?disabled=${r===0||this.checks.progress?.isRunning} @click=${()=>this.verifyShown()}>${e.proof.checkShown}</button>
        ${this.fragment?d`<button class="plain" @click=${()=>this.copyLink.copy()}>${e.copyLink}</button>`:u}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?e.relativeTimes:e.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${e.utc}</button>
      </div>
    </footer>`}open(e,i=!1){let s=this.events.pages?.at(e);s&&(this.grid.active=e,this.wanted=void 0,this.opened=s,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:s.id},bubbles:!0,composed:!0})),(i||this.grid.isSmall)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let e=this.renderRoot.querySelector("audit-log-event");await e?.updateComplete,e?.focus()}async openById(e){try{let{event:i}=await this.api.get(`/events/${e}`,{},this.events.signal);this.wanted=void 0,this.opened=i}catch(i){if(x(i))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(e){this.grid.moveBy(e),this.open(this.grid.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid.element?.focus())}onDetailsKey(e){e.key==="Escape"&&this.close()}onCancel(e){e.preventDefault(),this.close()}onFilterBy(e){this.grid.isSmall&&(this.opened=void 0),this.filter={...this.filter,[e.detail.field]:e.detail.value}}};function nr(){let n=[["audit-log-proof",se],["audit-log-event",X],["audit-log-filters",Y],["audit-log-histogram",Q],["audit-log-viewer",fe]];for(let[t,e]of n)customElements.get(t)||customElements.define(t,e)}export{b as a,M as b,H as c,x as d,k as e,Li as f,Pt as g,Ii as h,J as i,V as j,Be as k,K as l,$e as m,Ze as n,Dt as o,Ee as p,li as q,ot as r,ae as s,dt as t,we as u,Hi as v,xe as w,Pe as x,nr as y};
/*! Bundled license information:

lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
