import{D as q,E as b,H as C,I as D,J as S,K as H,L,M as O,N as R,O as j,P as A,a as h,e as $,i as M,k as T,m as Z,r as _}from"./shared-VKS7RTEX.js";import{a as v,b as I}from"./shared-IVR2C6RN.js";import{a as g,b as i,e as c,g as f}from"./shared-PF2M4KPR.js";var U={title:"Destinations",text:"A destination sends the events of your organization to your SIEM or bucket, in the order of the log. Nothing is dropped: what the receiver does not take now waits.",none:"No destinations yet.",columns:{state:"State",name:"Destination",lag:"Not yet sent",success:"Last success",actions:"Actions"},states:{active:"active",delayed:"delayed",credentials:"credentials refused",parked:"parked: it refused ten events in a row",paused:"paused"},lag:(r,e)=>`${r} events of the log, ${e} s`,noLag:"nothing",lastError:"Last attempt that failed",noStatus:"no status",refresh:"Refresh",test:"Send a test record",tested:{delivered:"The receiver has taken the test record.",retry:"The receiver does not take records now.",credentials:"The receiver refuses the credentials.",refused:"The receiver refuses the test record."},pause:"Pause",resume:"Resume",remove:"Delete",confirmRemoval:r=>`Delete “${r}”? Nothing more is sent. The events stay in the log.`,cancel:"Cancel",replay:"Send again",replayFrom:"Events received from",replayText:"The receiver gets these events a second time; their records say so.",replaying:r=>`Sending again: ${r} records so far`,stopReplay:"Stop",create:"Create destination",newDestination:"New destination",name:"Name",kind:"Kind",format:"Format",actions:"Only actions",created:r=>`${r} was created. It gets the events from now on.`,secret:"Secret that signs the requests. Store it now: it is not shown again.",failed:"This did not work."},J={title:"Ziele",text:"Ein Ziel sendet die Ereignisse Ihrer Organisation an Ihr SIEM oder Ihren Bucket, in der Reihenfolge des Logs. Nichts geht verloren: Was der Empfänger gerade nicht annimmt, wartet.",none:"Noch keine Ziele.",columns:{state:"Zustand",name:"Ziel",lag:"Noch nicht gesendet",success:"Letzter Erfolg",actions:"Aktionen"},states:{active:"aktiv",delayed:"verzögert",credentials:"Zugangsdaten abgelehnt",parked:"angehalten: zehn Ereignisse nacheinander abgelehnt",paused:"pausiert"},lag:(r,e)=>`${r} Ereignisse des Logs, ${e} s`,noLag:"nichts",lastError:"Letzter fehlgeschlagener Versuch",noStatus:"kein Status",refresh:"Aktualisieren",test:"Testeintrag senden",tested:{delivered:"Der Empfänger hat den Testeintrag angenommen.",retry:"Der Empfänger nimmt gerade nichts an.",credentials:"Der Empfänger lehnt die Zugangsdaten ab.",refused:"Der Empfänger lehnt den Testeintrag ab."},pause:"Pausieren",resume:"Fortsetzen",remove:"Löschen",confirmRemoval:r=>`„${r}“ löschen? Es wird nichts mehr gesendet. Die Ereignisse bleiben im Log.`,cancel:"Abbrechen",replay:"Erneut senden",replayFrom:"Ereignisse, eingegangen ab",replayText:"Der Empfänger erhält diese Ereignisse ein zweites Mal; die Einträge sagen es.",replaying:r=>`Erneutes Senden: bisher ${r} Einträge`,stopReplay:"Beenden",create:"Ziel anlegen",newDestination:"Neues Ziel",name:"Name",kind:"Art",format:"Format",actions:"Nur Aktionen",created:r=>`${r} wurde angelegt. Es erhält die Ereignisse von jetzt an.`,secret:"Geheimnis, das die Anfragen signiert. Speichern Sie es jetzt: Es wird nicht wieder angezeigt.",failed:"Das hat nicht funktioniert."},Q={en:U,de:J},m=r=>Q[r]??U;var k=class extends f{static{this.properties={token:{attribute:!1},kinds:{attribute:!1},language:{attribute:!1},destinations:{state:!0},failure:{state:!0},notice:{state:!0},secret:{state:!0},tested:{state:!0},removed:{state:!0},kind:{state:!0},isBusy:{state:!0},form:{state:!0}}}static{this.styles=[v,g`
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
`]}constructor(){super(),this.token="",this.kinds=[],this.language="en",this.destinations=[],this.notice="",this.secret="",this.removed="",this.kind="",this.isBusy=!1,this.form=0}get api(){return new $({baseUrl:"",credential:this.token})}willUpdate(e){e.has("token")&&(this.destinations=[],this.secret="",this.tested=void 0,this.attempt(async()=>{})),this.kinds.includes(this.kind)||(this.kind=this.kinds[0]??"")}async attempt(e,t=""){let{token:s,api:n}=this;this.isBusy=!0,this.failure=void 0,this.notice="",this.removed="";try{await e(n);let{destinations:a}=await n.get("/destinations");return s!==this.token?!1:(this.destinations=a,this.notice=t,!0)}catch(a){return s===this.token&&(this.failure=M(a)),!1}finally{this.isBusy=!1}}async onCreate(e){let t=S(e),s=L[this.kind];if(!s)return;let n=H(t.actions),a={name:t.name,kind:this.kind,format:t.format,settings:R("settings",s.settings,t),credentials:R("credentials",s.credentials,t),...n.length>0?{filter:{actions:n}}:{}};this.secret="";let l=async o=>{let{destination:u}=await o.send("POST","/destinations",a);this.secret=u.signing_secret??""};await this.attempt(l,m(this.language).created(h(t.name??"")))&&(this.form+=1)}test({id:e}){this.tested=void 0,this.attempt(async t=>{this.tested={id:e,attempt:await t.send("POST",`/destinations/${e}/test`)}})}onReplay(e,{id:t}){let{from:s}=S(e);s&&this.attempt(n=>n.send("POST",`/destinations/${t}/replay`,{from:new Date(s).toISOString()}))}async askRemoval(e){this.removed=e,await this.updateComplete,this.renderRoot.querySelector("button.cancel")?.focus()}rowOf(e,t){let{id:s,name:n,kind:a,state:l,paused:o,lag_events:u,lag_seconds:G,last_success_at:y,last_error:w,replay:P}=e,x=new Intl.NumberFormat(this.language),B=new Intl.DateTimeFormat(this.language,{dateStyle:"medium",timeStyle:"medium"}),z=({request:d,status:E,response:Y})=>i`<pre tabindex="0">${h(`${d}
${E??t.noStatus}: ${Y}`)}</pre>`,p=d=>`${d}: ${h(n)}`,F=d=>{this.attempt(E=>E.send("PATCH",`/destinations/${s}`,{paused:d}))},V=()=>{this.attempt(d=>d.send("DELETE",`/destinations/${s}`))},W=()=>{this.attempt(d=>d.send("DELETE",`/destinations/${s}/replay`))};return i`<tr>
<td>${t.states[l]??l}</td>
<th scope="row">${h(n)} <span class="muted">${O(a,A(this.language))}</span>
${w?i`<div class="muted">${t.lastError}: ${B.format(new Date(w.at))}</div>${z(w)}`:c}
        ${this.tested?.id===s?i`<div role="status">${t.tested[this.tested.attempt.verdict]??this.tested.attempt.verdict}</div>${z(this.tested.attempt)}`:c}</th>
      <td>${u===0?t.noLag:t.lag(x.format(u),x.format(G??0))}</td>
      <td>${y?i`<time datetime=${y}>${B.format(new Date(y))}</time>`:"–"}</td>
      <td>
        ${this.removed===s?i`<p>${t.confirmRemoval(h(n))}</p>
<div class="bar"><button class="danger" @click=${V}>${t.remove}</button><button class="cancel" @click=${()=>this.removed=""}>${t.cancel}</button></div>`:i`<div class="bar">
<button aria-label=${p(t.test)} ?disabled=${this.isBusy} @click=${()=>this.test(e)}>${t.test}</button>
${o||l==="parked"?c:i`<button aria-label=${p(t.pause)} ?disabled=${this.isBusy} @click=${()=>F(!0)}>${t.pause}</button>`}
              ${o||l!=="active"?i`<button aria-label=${p(t.resume)} ?disabled=${this.isBusy} @click=${()=>F(!1)}>${t.resume}</button>`:c}
              <button class="danger" aria-label=${p(t.remove)} ?disabled=${this.isBusy} @click=${()=>this.askRemoval(s)}>${t.remove}</button>
            </div>`}
        ${P?i`<p>${t.replaying(x.format(P.position))} <button aria-label=${p(t.stopReplay)} ?disabled=${this.isBusy} @click=${W}>${t.stopReplay}</button></p>`:i`<form aria-label=${p(t.replay)} @submit=${d=>this.onReplay(d,e)}>
<label>${t.replayFrom}<input name="from" type="datetime-local" step="1" required title=${t.replayText} /></label>
<button ?disabled=${this.isBusy}>${t.replay}</button>
</form>`}
      </td>
    </tr>`}formOf(e){let t=L[this.kind],s=A(this.language),n=a=>(t?.[a]??[]).map(l=>j(a,l,void 0,s));return i`<form aria-label=${e.newDestination} @submit=${this.onCreate}>
<label>${e.name}<input name="name" required maxlength="100" autocomplete="off" /></label>
<label>${e.kind}<select @change=${a=>this.kind=a.target.value}>
${this.kinds.map(a=>i`<option value=${a} .selected=${a===this.kind}>${O(a,s)}</option>`)}
      </select></label>
      <label>${e.format}<select name="format">${t?.formats.map(a=>i`<option>${a}</option>`)}</select></label>
      <label>${e.actions}<input name="actions" placeholder="auth.*, *.deleted" /></label>
      ${D(this.kind,i`${n("settings")} ${n("credentials")}`)}
      <button class="primary" ?disabled=${this.isBusy}>${e.create}</button>
    </form>`}render(){let e=m(this.language),{failure:t,secret:s}=this,n=t?[t.message,...t.details.map(({field:a,message:l})=>`${a}: ${l}`)]:[];return i`<h2>${e.title}</h2><p class="muted">${e.text}</p>
${t?i`<p class="notice bad" role="alert">${e.failed} ${h(n.join(" · "))}</p>`:c}
      <p role="status">${this.notice}</p>
      ${s?i`<div class="notice"><span>${e.secret}</span> <code>${s}</code></div>`:c}
      <div class="bar"><button ?disabled=${this.isBusy} @click=${()=>this.attempt(async()=>{})}>${e.refresh}</button></div>
      ${this.destinations.length>0?i`<div class="scroll" tabindex="0" role="region" aria-label=${e.title}><table>
<thead><tr><th scope="col">${e.columns.state}</th><th scope="col">${e.columns.name}</th><th scope="col">${e.columns.lag}</th><th scope="col">${e.columns.success}</th><th scope="col">${e.columns.actions}</th></tr></thead>
<tbody>${this.destinations.map(a=>this.rowOf(a,e))}</tbody>
</table></div>`:i`<p>${e.none}</p>`}
      <h3>${e.newDestination}</h3>
      ${D(this.form,this.formOf(e))}`}};var X=["token","key","lang","theme"];function ee(){let r=new URLSearchParams(location.hash.slice(1)),e={};for(let s of X){let n=r.get(s);n!==null&&(e[s]=n),r.delete(s)}let t=r.toString();return Object.keys(e).length>0&&history.replaceState(null,"",`${location.pathname}${location.search}${t&&`#${t}`}`),e}var K=["auto","light","dark"],N=class extends f{static{this.properties={token:{state:!0},key:{state:!0},language:{state:!0},look:{state:!0},showsDestinations:{state:!0},theme:{reflect:!0}}}static{this.styles=[v,I,g`
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
`]}constructor(){super(),this.token="",this.theme="auto",this.look=T,this.showsDestinations=!1,this.language=b(navigator.languages).name.split("-")[0]??"en",this.take(),addEventListener("hashchange",()=>this.take())}take(){let{token:e,key:t,lang:s,theme:n}=ee();e!==void 0&&(this.token=e),e&&this.readLook(e),t!==void 0&&(this.key=t.replaceAll(" ","+")),s!==void 0&&(this.language=b([s]).name.split("-")[0]??"en"),K.some(a=>a===n)&&(this.theme=n??"auto")}async readLook(e){let t=await Z(new $({baseUrl:"",credential:e})).catch(()=>T);e===this.token&&(this.look=t,t.destination_kinds.length===0&&(this.showsDestinations=!1))}render(){let{messages:e}=b([this.language]),{name:t,logo:s,destination_kinds:n}=this.look,{title:a}=m(this.language);document.documentElement.lang=this.language,document.documentElement.dir=e.direction,document.title=t?`${h(t)} · ${e.title}`:e.title;let l=new Intl.DisplayNames([this.language],{type:"language"});return i`
<header>
${s?i`<img src=${s} alt="" />`:c}
        <h1>${h(t??e.title)}</h1>
        <span class="tenant muted">${h(_(this.token)??"")}</span>
        ${n.length>0?i`<button aria-pressed=${this.showsDestinations?"true":"false"} @click=${()=>this.showsDestinations=!this.showsDestinations}>${a}</button>`:c}
        <select aria-label=${e.language} @change=${o=>this.language=o.target.value}>
          ${q().map(o=>i`<option value=${o} .selected=${o===this.language}>${l.of(o)??o}</option>`)}
        </select>
        <select aria-label=${e.theme} @change=${o=>this.theme=o.target.value}>
          ${K.map(o=>i`<option value=${o} .selected=${o===this.theme}>${e.themes[o]}</option>`)}
        </select>
      </header>
      ${this.showsDestinations?i`<audit-log-portal-destinations .token=${this.token} .kinds=${n} .language=${this.language}></audit-log-portal-destinations>`:c}
      <audit-log-viewer fragment ?hidden=${this.showsDestinations} .token=${this.token} .pinnedKey=${this.key} lang=${this.language} theme=${this.theme}></audit-log-viewer>
    `}};C();customElements.define("audit-log-portal-destinations",k);customElements.define("audit-log-portal",N);document.querySelector("#app")?.append(document.createElement("audit-log-portal"));
