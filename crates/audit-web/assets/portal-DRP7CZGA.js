import{C as F,D,E as L,F as C,G as m,H as R,I as j,a as c,e as b,g as _,i as T,k as Z,o as I,y as M,z as k}from"./shared-MOKFRY6M.js";import{a as f,b as n,e as d,g as v,h as $,i as B}from"./shared-PL53VPD7.js";var q={title:"Destinations",text:"A destination sends the events of your organization to your SIEM or bucket, in the order of the log. Nothing is dropped: what the receiver does not take now waits.",none:"No destinations yet.",columns:{state:"State",name:"Destination",lag:"Not yet sent",success:"Last success",actions:"Actions"},states:{active:"active",delayed:"delayed",credentials:"credentials refused",parked:"parked: it refused ten events in a row",paused:"paused"},lag:(a,e)=>`${a} events of the log, ${e} s`,noLag:"nothing",lastError:"Last attempt that failed",noStatus:"no status",refresh:"Refresh",test:"Send a test record",tested:{delivered:"The receiver has taken the test record.",retry:"The receiver does not take records now.",credentials:"The receiver refuses the credentials.",refused:"The receiver refuses the test record."},pause:"Pause",resume:"Resume",remove:"Delete",confirmRemoval:a=>`Delete “${a}”? Nothing more is sent. The events stay in the log.`,cancel:"Cancel",replay:"Send again",replayFrom:"Events received from",replayText:"The receiver gets these events a second time; their records say so.",replaying:a=>`Sending again: ${a} records so far`,stopReplay:"Stop",create:"Create destination",newDestination:"New destination",name:"Name",kind:"Kind",format:"Format",actions:"Only actions",created:a=>`${a} was created. It gets the events from now on.`,secret:"Secret that signs the requests. Store it now: it is not shown again.",failed:"This did not work.",kinds:{},fields:{}},V={title:"Ziele",text:"Ein Ziel sendet die Ereignisse Ihrer Organisation an Ihr SIEM oder Ihren Bucket, in der Reihenfolge des Logs. Nichts geht verloren: Was der Empfänger gerade nicht annimmt, wartet.",none:"Noch keine Ziele.",columns:{state:"Zustand",name:"Ziel",lag:"Noch nicht gesendet",success:"Letzter Erfolg",actions:"Aktionen"},states:{active:"aktiv",delayed:"verzögert",credentials:"Zugangsdaten abgelehnt",parked:"angehalten: zehn Ereignisse nacheinander abgelehnt",paused:"pausiert"},lag:(a,e)=>`${a} Ereignisse des Logs, ${e} s`,noLag:"nichts",lastError:"Letzter fehlgeschlagener Versuch",noStatus:"kein Status",refresh:"Aktualisieren",test:"Testeintrag senden",tested:{delivered:"Der Empfänger hat den Testeintrag angenommen.",retry:"Der Empfänger nimmt gerade nichts an.",credentials:"Der Empfänger lehnt die Zugangsdaten ab.",refused:"Der Empfänger lehnt den Testeintrag ab."},pause:"Pausieren",resume:"Fortsetzen",remove:"Löschen",confirmRemoval:a=>`„${a}“ löschen? Es wird nichts mehr gesendet. Die Ereignisse bleiben im Log.`,cancel:"Abbrechen",replay:"Erneut senden",replayFrom:"Ereignisse, eingegangen ab",replayText:"Der Empfänger erhält diese Ereignisse ein zweites Mal; die Einträge sagen es.",replaying:a=>`Erneutes Senden: bisher ${a} Einträge`,stopReplay:"Beenden",create:"Ziel anlegen",newDestination:"Neues Ziel",name:"Name",kind:"Art",format:"Format",actions:"Nur Aktionen",created:a=>`${a} wurde angelegt. Es erhält die Ereignisse von jetzt an.`,secret:"Geheimnis, das die Anfragen signiert. Speichern Sie es jetzt: Es wird nicht wieder angezeigt.",failed:"Das hat nicht funktioniert.",kinds:{s3:"S3-kompatibler Bucket",syslog:"Syslog über TLS"},fields:{"settings.framing":"Inhalt","settings.headers":"Kopfzeilen, je Zeile „Name: Wert“","settings.compress":"Mit gzip komprimieren","settings.service":"Dienst","settings.sourcetype":"Source type","settings.app_name":"Name der Anwendung","settings.ca":"Zertifizierungsstellen des Empfängers, PEM","credentials.headers":"Geheime Kopfzeilen, je Zeile „Name: Wert“","credentials.signing_secret":"Signaturgeheimnis; ein neues, wenn leer","credentials.access_key":"Zugriffsschlüssel","credentials.secret_key":"Geheimer Schlüssel","credentials.api_key":"API-Schlüssel","credentials.client_certificate":"Client-Zertifikat, PEM","credentials.client_key":"Client-Schlüssel, PEM"}},Y={en:q,de:V},u=a=>Y[a]??q;var y=class extends v{static{this.properties={token:{attribute:!1},kinds:{attribute:!1},language:{attribute:!1},destinations:{state:!0},failure:{state:!0},notice:{state:!0},secret:{state:!0},tested:{state:!0},removed:{state:!0},kind:{state:!0},isBusy:{state:!0},form:{state:!0}}}static{this.styles=[$,f`
:host { display: block; padding: 12px; }
h2 { margin: 0 0 2px; font-size: 1.25em; } h3 { margin: 20px 0 8px; font-size: 1.05em; }
p { margin: 4px 0 10px; max-width: 80ch; }
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid var(--border); overflow-wrap: anywhere; }
thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; white-space: nowrap; }
pre { margin: 4px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 200px; overflow: auto; }
.bar, form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 8px 0; }
label { display: flex; flex-direction: column; gap: 2px; min-width: 0; }
label.wide { flex: 1 0 100%; max-width: 80ch; } label.check { flex-direction: row; align-items: center; gap: 6px; }
`]}constructor(){super(),this.token="",this.kinds=[],this.language="en",this.destinations=[],this.notice="",this.secret="",this.removed="",this.kind="",this.isBusy=!1,this.form=0}get api(){return new b({baseUrl:"",credential:this.token})}willUpdate(e){e.has("token")&&(this.destinations=[],this.secret="",this.tested=void 0,this.attempt(async()=>{})),this.kinds.includes(this.kind)||(this.kind=this.kinds[0]??"")}async attempt(e,t=""){let{token:i,api:s}=this;this.isBusy=!0,this.failure=void 0,this.notice="",this.removed="";try{await e(s);let{destinations:r}=await s.get("/destinations");return i!==this.token?!1:(this.destinations=r,this.notice=t,!0)}catch(r){return i===this.token&&(this.failure=_(r)),!1}finally{this.isBusy=!1}}async onCreate(e){let t=L(e),i=m[this.kind];if(!i)return;let s=C(t.actions),r={name:t.name,kind:this.kind,format:t.format,settings:R("settings",i.settings,t),credentials:R("credentials",i.credentials,t),...s.length>0?{filter:{actions:s}}:{}};this.secret="";let h=async o=>{let{destination:g}=await o.send("POST","/destinations",r);this.secret=g.signing_secret??""};await this.attempt(h,u(this.language).created(c(t.name??"")))&&(this.form+=1)}test({id:e}){this.tested=void 0,this.attempt(async t=>{this.tested={id:e,attempt:await t.send("POST",`/destinations/${e}/test`)}})}onReplay(e,{id:t}){let{from:i}=L(e);i&&this.attempt(s=>s.send("POST",`/destinations/${t}/replay`,{from:new Date(i).toISOString()}))}async askRemoval(e){this.removed=e,await this.updateComplete,this.renderRoot.querySelector("button.cancel")?.focus()}rowOf(e,t){let{id:i,name:s,kind:r,state:h,paused:o,lag_events:g,lag_seconds:K,last_success_at:w,last_error:x,replay:A}=e,E=new Intl.NumberFormat(this.language),P=new Intl.DateTimeFormat(this.language,{dateStyle:"medium",timeStyle:"medium"}),N=({request:l,status:S,response:W})=>n`<pre tabindex="0">${c(`${l}
${S??t.noStatus}: ${W}`)}</pre>`,p=l=>`${l}: ${c(s)}`,z=l=>{this.attempt(S=>S.send("PATCH",`/destinations/${i}`,{paused:l}))},G=()=>{this.attempt(l=>l.send("DELETE",`/destinations/${i}`))},U=()=>{this.attempt(l=>l.send("DELETE",`/destinations/${i}/replay`))};return n`<tr>
<td>${t.states[h]??h}</td>
<th scope="row">${c(s)} <span class="muted">${t.kinds[r]??m[r]?.label??r}</span>
${x?n`<div class="muted">${t.lastError}: ${P.format(new Date(x.at))}</div>${N(x)}`:d}
        ${this.tested?.id===i?n`<div role="status">${t.tested[this.tested.attempt.verdict]??this.tested.attempt.verdict}</div>${N(this.tested.attempt)}`:d}</th>
      <td>${g===0?t.noLag:t.lag(E.format(g),E.format(K??0))}</td>
      <td>${w?n`<time datetime=${w}>${P.format(new Date(w))}</time>`:"–"}</td>
      <td>
        ${this.removed===i?n`<p>${t.confirmRemoval(c(s))}</p>
<div class="bar"><button class="danger" @click=${G}>${t.remove}</button><button class="cancel" @click=${()=>this.removed=""}>${t.cancel}</button></div>`:n`<div class="bar">
<button aria-label=${p(t.test)} ?disabled=${this.isBusy} @click=${()=>this.test(e)}>${t.test}</button>
${o||h==="parked"?d:n`<button aria-label=${p(t.pause)} ?disabled=${this.isBusy} @click=${()=>z(!0)}>${t.pause}</button>`}
              ${o||h!=="active"?n`<button aria-label=${p(t.resume)} ?disabled=${this.isBusy} @click=${()=>z(!1)}>${t.resume}</button>`:d}
              <button class="danger" aria-label=${p(t.remove)} ?disabled=${this.isBusy} @click=${()=>this.askRemoval(i)}>${t.remove}</button>
            </div>`}
        ${A?n`<p>${t.replaying(E.format(A.position))} <button aria-label=${p(t.stopReplay)} ?disabled=${this.isBusy} @click=${U}>${t.stopReplay}</button></p>`:n`<form aria-label=${p(t.replay)} @submit=${l=>this.onReplay(l,e)}>
<label>${t.replayFrom}<input name="from" type="datetime-local" step="1" required title=${t.replayText} /></label>
<button ?disabled=${this.isBusy}>${t.replay}</button>
</form>`}
      </td>
    </tr>`}formOf(e){let t=m[this.kind],i=s=>(t?.[s]??[]).map(r=>j(s,r,void 0,e.fields[`${s}.${r.name}`]??r.label));return n`<form aria-label=${e.newDestination} @submit=${this.onCreate}>
<label>${e.name}<input name="name" required maxlength="100" autocomplete="off" /></label>
<label>${e.kind}<select @change=${s=>this.kind=s.target.value}>
${this.kinds.map(s=>n`<option value=${s} .selected=${s===this.kind}>${e.kinds[s]??m[s]?.label??s}</option>`)}
      </select></label>
      <label>${e.format}<select name="format">${t?.formats.map(s=>n`<option>${s}</option>`)}</select></label>
      <label>${e.actions}<input name="actions" placeholder="auth.*, *.deleted" /></label>
      ${D(this.kind,n`${i("settings")} ${i("credentials")}`)}
      <button class="primary" ?disabled=${this.isBusy}>${e.create}</button>
    </form>`}render(){let e=u(this.language),{failure:t,secret:i}=this,s=t?[t.message,...t.details.map(({field:r,message:h})=>`${r}: ${h}`)]:[];return n`<h2>${e.title}</h2><p class="muted">${e.text}</p>
${t?n`<p class="notice bad" role="alert">${e.failed} ${c(s.join(" · "))}</p>`:d}
      <p role="status">${this.notice}</p>
      ${i?n`<div class="notice"><span>${e.secret}</span> <code>${i}</code></div>`:d}
      <div class="bar"><button ?disabled=${this.isBusy} @click=${()=>this.attempt(async()=>{})}>${e.refresh}</button></div>
      ${this.destinations.length>0?n`<div class="scroll" tabindex="0" role="region" aria-label=${e.title}><table>
<thead><tr><th scope="col">${e.columns.state}</th><th scope="col">${e.columns.name}</th><th scope="col">${e.columns.lag}</th><th scope="col">${e.columns.success}</th><th scope="col">${e.columns.actions}</th></tr></thead>
<tbody>${this.destinations.map(r=>this.rowOf(r,e))}</tbody>
</table></div>`:n`<p>${e.none}</p>`}
      <h3>${e.newDestination}</h3>
      ${D(this.form,this.formOf(e))}`}};var J=["token","key","lang","theme"];function Q(){let a=new URLSearchParams(location.hash.slice(1)),e={};for(let i of J){let s=a.get(i);s!==null&&(e[i]=s),a.delete(i)}let t=a.toString();return Object.keys(e).length>0&&history.replaceState(null,"",`${location.pathname}${location.search}${t&&`#${t}`}`),e}var H=["auto","light","dark"],O=class extends v{static{this.properties={token:{state:!0},key:{state:!0},language:{state:!0},look:{state:!0},showsDestinations:{state:!0},theme:{reflect:!0}}}static{this.styles=[$,B,f`
:host { display: flex; flex-direction: column; min-height: 100vh; min-height: 100dvh; background: var(--bg); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 8px 12px; border-bottom: 1px solid var(--border); }
h1 { margin: 0; min-width: 0; font-size: 1.15em; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
img { max-height: 28px; max-width: 140px; flex: none; }
.tenant { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
select { border-color: transparent; background: transparent; }
select:hover { border-color: var(--control); }
@media (max-width: 480px) { header { gap: 2px 12px; padding: 4px 8px; } h1 { flex: 1; } .tenant { order: 1; flex-basis: 100%; } .tenant:empty { display: none; } img { max-width: 72px; } select { width: 92px; padding: 3px 0; } }
@media (max-height: 500px) { header { padding-block: 2px; } }
@media print { :host { min-height: 0; } select { display: none; } }
audit-log-viewer { flex: 1 0 auto; --audit-height: auto; }
`]}constructor(){super(),this.token="",this.theme="auto",this.look=T,this.showsDestinations=!1,this.language=k(navigator.languages).name.split("-")[0]??"en",this.take(),addEventListener("hashchange",()=>this.take())}take(){let{token:e,key:t,lang:i,theme:s}=Q();e!==void 0&&(this.token=e),e&&this.readLook(e),t!==void 0&&(this.key=t.replaceAll(" ","+")),i!==void 0&&(this.language=k([i]).name.split("-")[0]??"en"),H.some(r=>r===s)&&(this.theme=s??"auto")}async readLook(e){let t=await Z(new b({baseUrl:"",credential:e})).catch(()=>T);e===this.token&&(this.look=t,t.destination_kinds.length===0&&(this.showsDestinations=!1))}render(){let{messages:e}=k([this.language]),{name:t,logo:i,destination_kinds:s}=this.look,{title:r}=u(this.language);document.documentElement.lang=this.language,document.documentElement.dir=e.direction,document.title=t?`${c(t)} · ${e.title}`:e.title;let h=new Intl.DisplayNames([this.language],{type:"language"});return n`
<header>
${i?n`<img src=${i} alt="" />`:d}
        <h1>${c(t??e.title)}</h1>
        <span class="tenant muted">${c(I(this.token)??"")}</span>
        ${s.length>0?n`<button aria-pressed=${this.showsDestinations?"true":"false"} @click=${()=>this.showsDestinations=!this.showsDestinations}>${r}</button>`:d}
        <select aria-label=${e.language} @change=${o=>this.language=o.target.value}>
          ${M().map(o=>n`<option value=${o} .selected=${o===this.language}>${h.of(o)??o}</option>`)}
        </select>
        <select aria-label=${e.theme} @change=${o=>this.theme=o.target.value}>
          ${H.map(o=>n`<option value=${o} .selected=${o===this.theme}>${e.themes[o]}</option>`)}
        </select>
      </header>
      ${this.showsDestinations?n`<audit-log-portal-destinations .token=${this.token} .kinds=${s} .language=${this.language}></audit-log-portal-destinations>`:d}
      <audit-log-viewer fragment ?hidden=${this.showsDestinations} .token=${this.token} .pinnedKey=${this.key} lang=${this.language} theme=${this.theme}></audit-log-viewer>
    `}};F();customElements.define("audit-log-portal-destinations",y);customElements.define("audit-log-portal",O);document.querySelector("#app")?.append(document.createElement("audit-log-portal"));
