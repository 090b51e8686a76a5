import{a as b,b as _,c as C,d as ve,e as L,f as x,g as be,h as ye,i as $e,k as we,l as ke,m as xe,n as _e,o as T,p as N,q as Te,r as Se,s as M,t as I,u as se,x as Re,y as Ee}from"./shared-6XWOKUAE.js";import{a as k,b as n,e as d,g as j,h as D,i as fe}from"./shared-PL53VPD7.js";function Ve(r,a){let[e="",...t]=r.split("*");if(t.length===0)return r===a;if(!a.startsWith(e))return!1;let s=e.length,i=t.pop()??"";for(let o of t){let l=a.indexOf(o,s);if(l<0)return!1;s=l+o.length}return a.length-i.length>=s&&a.endsWith(i)}var Qe=["failure","denied"];function Xe(r){let a=`http://[${r}]/`;if(!/^[0-9A-Fa-f:.]+$/.test(r)||!URL.canParse(a))return r;let e=new URL(a).hostname.slice(1,-1),t=/^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(e);return t?t.slice(1).map(s=>`${parseInt(s,16)>>8}.${parseInt(s,16)&255}`).join("."):e}var Ye=r=>r?Xe(r):void 0,F={actor_id:r=>r.actor?.id,tenant_id:r=>r.tenant_id,ip_address:r=>Ye(r.context?.ip_address),session_id:r=>r.context?.session_id??void 0,target_id:r=>r.target?.id};function Ze(r,a){let{action:e,actor:t,category:s,outcome:i}=a,o=(h=[])=>h.some(p=>Ve(p,e??"")),l=Qe.includes(i)&&o(r.failed_action_patterns);if(!e||!(o([r.action_pattern,...r.further_action_patterns??[]])||l))return!1;let c=(h,p)=>!h?.length||h.includes(p??"");return c(r.actor_types,t?.type)&&c(r.categories,s)&&c(r.outcomes,i)&&!r.not_actor_ids?.includes(t?.id??"")}function et(r,a){let e=[...r].sort((i,o)=>i.received_at<o.received_at?-1:1),t=new Map,s={lookedAt:r.length,matching:0,alerts:[]};for(let i of e){if(!Ze(a,i))continue;let o=F[a.group_by]?.(i),l=a.count_distinct?F[a.count_distinct]?.(i):i.id;if(o===void 0||l===void 0)continue;s.matching+=1;let c=`${i.tenant_id}
${o}`,h=Date.parse(i.occurred_at),p=t.get(c)??{counted:new Map,quietUntil:-1/0};t.set(c,p);for(let[v,w]of p.counted)w<h-a.window_seconds*1e3&&p.counted.delete(v);p.counted.set(l,Math.max(h,p.counted.get(l)??h)),!(p.counted.size<a.threshold||h<p.quietUntil)&&(s.alerts.unshift({group:o,at:i.occurred_at,count:p.counted.size}),p.quietUntil=h+a.cooldown_seconds*1e3,p.counted.clear())}return s}async function Pe(r,a){let t=!a.further_action_patterns?.length&&!a.failed_action_patterns?.length?a.action_pattern.split("*")[0]??"":"",s=t===""?void 0:a.action_pattern===t?t:`${t}*`,i=[],o;do{let l=await r.get("/events",{action:s,limit:200,cursor:o});i.push(...l.events),o=l.cursor??void 0}while(o&&i.length<2e3);return et(i.slice(0,2e3),a)}var tt=new Intl.DateTimeFormat(void 0,{dateStyle:"medium",timeStyle:"medium"});function m(r){return r?n`<time datetime=${r} title=${r}>${tt.format(new Date(r))}</time>`:"–"}function g(r){r.preventDefault();let a={};for(let[e,t]of new FormData(r.target))typeof t=="string"&&t.trim()!==""&&(a[e]=t.trim());return a}function y(r,a=/[\n,]/){return(r??"").split(a).map(e=>e.trim()).filter(e=>e!=="")}var u=class extends j{constructor(){super();this.attempts=0;this.loading=new AbortController;this.notice="",this.typed="",this.isBusy=!1,this.isLoaded=!1}static{this.properties={session:{attribute:!1},failure:{state:!0},notice:{state:!0},question:{state:!0},secret:{state:!0},typed:{state:!0},isBusy:{state:!0},isLoaded:{state:!0}}}static{this.styles=[D,k`
:host { display: block; padding: 16px 20px 40px; overflow: auto; min-height: 0; }
h2 { margin: 0 0 2px; font-size: 1.35em; } h3 { margin: 22px 0 8px; font-size: 1.05em; }
p { margin: 4px 0 10px; max-width: 80ch; } code { overflow-wrap: anywhere; }
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid color-mix(in srgb, var(--border) 60%, transparent); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; font-weight: 600; white-space: nowrap; }
td { overflow-wrap: anywhere; min-width: 60px; } td.actions { white-space: nowrap; text-align: end; } time { white-space: nowrap; }
tbody th { font-weight: 500; }
form.inline { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius);
background: var(--surface); margin: 8px 0 16px; }
label { display: flex; flex-direction: column; gap: 2px; color: var(--muted); font-size: 0.9em; min-width: 0; }
label > :is(input, select, textarea) { color: var(--text); font-size: var(--size); }
label.check { flex-direction: row; align-items: center; gap: 6px; color: var(--text); font-size: 1em; min-height: 30px; }
label.wide { flex: 1 1 260px; }
fieldset { display: flex; flex-wrap: wrap; gap: 0 12px; min-width: 0; margin: 0; padding: 0; border: 0; }
legend { padding: 0; color: var(--muted); font-size: 0.9em; }
.badge { display: inline-block; padding: 0 8px; border-radius: 10px; background: var(--surface); border: 1px solid var(--border); font-size: 0.9em; white-space: nowrap; }
.badge.critical, .badge.failed, .badge.open { background: var(--bad-bg); color: var(--bad); border-color: transparent; }
.badge.high, .badge.pending, .badge.acknowledged { background: var(--warn-bg); color: var(--warn); border-color: transparent; }
.badge.delivered, .badge.resolved, .badge.on { background: var(--good-bg); color: var(--good); border-color: transparent; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 10px 0; }
.empty { padding: 24px; text-align: center; color: var(--muted); border: 1px dashed var(--border); border-radius: var(--radius); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(136px, 1fr)); gap: 10px; margin: 12px 0; }
.card { padding: 10px 14px; border: 1px solid var(--border); border-radius: var(--radius); background: var(--surface); }
.card b { display: block; font-size: 1.5em; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
pre { margin: 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border); border-radius: var(--radius);
white-space: pre-wrap; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 14px; }
dialog { width: min(520px, calc(100vw - 32px)); padding: 18px 20px; border: 1px solid var(--border); border-radius: 10px; background: var(--bg); color: var(--text); }
dialog::backdrop { background: rgb(0 0 0 / 0.45); } dialog h3 { margin-top: 0; }
dialog footer { display: flex; gap: 8px; justify-content: flex-end; margin-top: 16px; }
.notice { margin: 10px 0; } mark { background: var(--bad-bg); color: var(--bad); border-radius: 3px; padding: 0 2px; }
mark.after { background: var(--good-bg); color: var(--good); }
`]}willUpdate(e){e.has("session")&&this.reload()}async reload(){this.isLoaded=!1,await this.loadNewest()}async loadNewest(){this.loading.abort();let{signal:e}=this.loading=new AbortController;await this.attempt(()=>this.load(e)),e.aborted||(this.isLoaded=!0)}async attempt(e,t=""){this.attempts+=1,this.isBusy=!0,this.failure=void 0,this.notice="";try{return await e(),this.notice=t,!0}catch(s){return ve(s)||(this.failure=L(s),this.failure.kind==="expired"&&this.session.onEnded(this.failure)),!1}finally{this.attempts-=1,this.isBusy=this.attempts>0,this.requestUpdate()}}async change(e,t=""){return await this.attempt(e)?(await this.loadNewest(),this.failure||(this.notice=t),!0):!1}ask(e){this.typed=e.name??e.list?.items.join(`
`)??"",this.question=e,this.showDialog()}reveal(e,t){this.secret={title:e,value:t},this.showDialog()}async showDialog(){await this.updateComplete;let e=this.renderRoot.querySelector("dialog");e&&!e.open&&e.showModal()}closeDialog(){this.question=void 0,this.secret=void 0}render(){let{failure:e}=this;return n`
<h2>${this.heading}</h2>
<p class="muted">${this.text}</p>
${e?n`<div class="notice bad" role="alert">
            <b>${e.message}</b>
            ${e.details.map(({field:t,message:s})=>n`<span><code>${t}</code> ${s}</span>`)}
            ${e.requestId?n`<span class="mono">${e.requestId}</span>`:d}
            <button @click=${()=>this.reload()}>Try again</button>
          </div>`:d}
      <div role="status">${this.notice?n`<div class="notice good">${this.notice}</div>`:d}</div>
      ${this.isLoaded?this.content():n`<p class="spinner">Loading …</p>`} ${this.question?this.questionDialog(this.question):d}
      ${this.secret?this.secretDialog(this.secret):d}
    `}questionDialog({title:e,text:t,verb:s,typed:i,name:o,list:l,run:c}){let h=async w=>{w.preventDefault();let f=this.typed.trim();this.closeDialog(),await this.change(()=>c(f),`${e}: done.`)},p=w=>{this.typed=w.target.value},v=o===void 0&&l===void 0;return n`<dialog aria-labelledby="question" @close=${()=>this.closeDialog()}>
<form @submit=${h}>
<h3 id="question">${e}</h3>
<p>${t}</p>
${i?n`<label>To confirm, type ${i}
              <input autocomplete="off" spellcheck="false" @input=${p} /></label>`:d}
        ${o===void 0?d:n`<label>New name<input required maxlength="100" autocomplete="off" .value=${o} @input=${p} /></label>`}
        ${l?n`<label>${l.label}<textarea rows="6" autocomplete="off" spellcheck="false" .value=${l.items.join(`
`)} @input=${p}></textarea></label>`:d}
        <footer>
          <button type="button" @click=${()=>this.closeDialog()}>Cancel</button>
          <button class=${v?"danger":"primary"} ?disabled=${i!==void 0&&this.typed!==i}>${s}</button>
        </footer>
      </form>
    </dialog>`}secretDialog({title:e,value:t}){return n`<dialog aria-labelledby="secret" @close=${()=>this.closeDialog()}>
<h3 id="secret">${e}</h3>
<p>It is shown only now. The server cannot show it again.</p>
<pre tabindex="0">${t}</pre>
<footer>
<button @click=${async()=>{await navigator.clipboard.writeText(t).catch(()=>{}),this.notice="Copied."}}>Copy</button>
<button class="primary" @click=${()=>this.closeDialog()}>I have stored it</button>
</footer>
</dialog>`}table(e,t,s){return t.length===0?n`<div class="empty">${s}</div>`:n`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
<table>
<thead><tr>${e.map(i=>n`<th scope="col">${i||n`<span class="visually-hidden">Actions</span>`}</th>`)}</tr></thead>
        <tbody>${t}</tbody>
      </table>
    </div>`}masterOnly(){return this.session.isMaster?d:n`<p class="notice">Changes need a master key. You are signed in with a project key.</p>`}};var ie=["threshold","window_seconds","cooldown_seconds"],ne=["actor_types","categories","outcomes","not_actor_ids"],re=(r,a=[])=>a.join(r==="not_actor_ids"?`
`:", "),Ae=Object.keys(F),it=Ae.filter(r=>r!=="tenant_id"),q=class extends u{constructor(){super();this.heading="Alert rules";this.text="A rule counts events whose action matches its pattern, by actor, tenant, address, session or target, and raises an alert at its threshold. Built-in rules can be switched off; their numbers and conditions can be changed.";this.rules=[],this.draft={}}static{this.properties={rules:{state:!0},preview:{state:!0},draft:{state:!0}}}async load(){this.rules=(await this.session.api.get("/alerts/rules")).rules}amend(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,t),`${e.name}: changed.`)}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"The rule stops at once. Alerts that it has raised stay. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/alerts/rules/${e.id}`)})}async show(e,t){this.preview=void 0,await this.attempt(async()=>{this.preview={name:t,result:await Pe(this.session.api,e)}})}async onSubmit(e){let t=g(e),s={...t};for(let f of ie)f in s&&(s[f]=Number(s[f]));for(let f of ne)s[f]=y(t[f],f==="not_actor_ids"?/\n/:void 0);if(e.submitter?.value==="preview")return this.show(s,"this rule");let{id:o,type:l}=this.draft,c=new FormData(e.target);if(o)for(let f of ne)c.get(f)===re(f,this.draft[f])&&delete s[f];let h=Object.fromEntries([...ie,...ne].map(f=>[f,s[f]])),p=l==="builtin"?h:{...s,...o&&!t.count_distinct?{count_distinct:null}:{}},{api:v}=this.session,w=()=>o?v.send("PATCH",`/alerts/rules/${o}`,p):v.send("POST","/alerts/rules",p);await this.change(w,`${String(s.name)}: stored.`)&&(this.draft={})}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>n`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.amend(s,{enabled:i.target.checked})} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?n`<span class="badge">built-in</span>`:d}</th>
      <td><code>${s.action_pattern}</code></td>
      <td>${s.threshold}${s.count_distinct?` distinct ${s.count_distinct}`:""} in ${s.window_seconds} s by ${s.group_by}</td>
      <td><span class="badge ${s.severity}">${s.severity}</span></td>
      <td>${s.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${()=>this.show(s,s.name)}>Preview</button>
        ${e?n`<button @click=${()=>this.draft=s}>Edit</button>`:d}
        ${e&&s.type==="custom"?n`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:d}
      </td>
    </tr>`);return n`${this.masterOnly()} ${this.table(["On","Rule","Action","Fires at","Severity","Cooldown",""],t,"No rules.")}
${this.preview?this.previewOf(this.preview.name,this.preview.result):d} ${e?this.form():d}`}previewOf(e,{lookedAt:t,matching:s,alerts:i}){let o=i.slice(0,20).map(l=>n`<tr><td>${b(l.group)}</td><td>${l.count}</td><td>${m(l.at)}</td></tr>`);return n`<h3>Preview of ${e}</h3>
<p>Among the newest ${t} events with this action (at most ${2e3}), ${s} match. The rule would have raised <b>${i.length}</b> alerts. The preview counts by the time of the events; the server also leaves out events that arrive later than the window.</p>
${this.table(["Group","Count","Time"],o,"It would have raised no alert.")}`}form(){let{draft:e}=this,t=e.type==="builtin",s=(l,c,h,p,v={})=>n`<label>
${c}<input name=${l} type=${h} required ?disabled=${t&&!ie.includes(l)} min=${v.min??d} max=${v.max??d} .value=${String(e[l]??p)} />
</label>`,i=(l,c,h)=>n`<label>
${c}<select name=${l} ?disabled=${t}>${h.map(p=>n`<option value=${p} .selected=${(e[l]??"")===p}>${p||"events"}</option>`)}</select>
    </label>`,o=(l,c)=>n`<label class="wide">
${c}<input name=${l} .value=${re(l,e[l])} />
</label>`;return n`<h3>${e.id?`Edit ${e.name??""}`:"New rule"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${s("name","Name","text","")} ${s("action_pattern","Action pattern","text","*.deleted")}
        ${s("threshold","Threshold","number",5,{min:1,max:1e4})} ${s("window_seconds","Window, seconds","number",300,{min:60,max:3600})}
        ${i("count_distinct","Count distinct",["",...it])} ${i("group_by","Count by",Ae)} ${i("severity","Severity",["low","medium","high","critical"])}
        ${s("cooldown_seconds","Cooldown, seconds","number",3600,{min:0,max:604800})}
        ${o("actor_types","Only actor types")} ${o("categories","Only categories")}
        ${o("outcomes","Only outcomes")} <label class="wide">Not these actors, one id per line<textarea name="not_actor_ids" rows="2" .value=${re("not_actor_ids",e.not_actor_ids)}></textarea></label>
        <button class="primary" value="store">${e.id?"Store changes":"Create rule"}</button>
        ${t?d:n`<button value="preview">Preview</button>`}
        ${e.id?n`<button type="button" class="plain" @click=${()=>this.draft={}}>Cancel</button>`:d}
      </form>`}};var H=class extends u{constructor(){super();this.cursor=null;this.heading="Alerts";this.text="Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";this.status="open",this.severity="",this.alerts=[]}static{this.properties={status:{state:!0},severity:{state:!0},alerts:{state:!0},wanted:{attribute:!1}}}read(e,t){return this.session.api.get("/alerts",{status:this.status,severity:this.severity,cursor:t},e)}willUpdate(e){(e.has("session")||e.has("wanted"))&&this.reload()}reload(){return this.alerts=[],this.cursor=null,super.reload()}async load(e){if(this.wanted){this.alerts=[(await this.session.api.get(`/alerts/${this.wanted}`,{},e)).alert],this.cursor=null;return}let t=await this.read(e);this.alerts=t.alerts,this.cursor=t.cursor}async more(){await this.attempt(async()=>{let e=await this.read(this.loading.signal,this.cursor??void 0);this.alerts=[...this.alerts,...e.alerts],this.cursor=e.cursor})}set(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/${e.id}`,{status:t}),`${e.rule_name}: ${t}.`)}select(e,t,s,i){return n`<label>${e}<select @change=${l=>{i(l.target.value),this.reload()}}>
<option value="" .selected=${t===""}>all</option>
${s.map(l=>n`<option .selected=${l===t}>${l}</option>`)}
    </select></label>`}content(){let e=this.alerts.map(s=>n`<tr>
<td><span class="badge ${s.severity}">${s.severity}</span></td>
<th scope="row">${s.rule_name}</th>
<td>${b(s.tenant_id)}</td>
<td>${s.group_by} ${b(s.group_key)}${s.actor_name?n` (${b(s.actor_name)})`:d}</td>
      <td>${s.event_count}${s.count_distinct?` distinct ${s.count_distinct}`:""}: ${s.sample_event_ids.slice(0,3).map((i,o)=>n`<a href="#/events?event=${i}">event ${o+1}</a> `)}</td>
      <td>${m(s.fired_at)}</td>
      <td><span class="badge ${s.status}">${s.status}</span></td>
      <td class="actions">
        ${s.status==="open"?n`<button @click=${()=>this.set(s,"acknowledged")}>Acknowledge</button>`:d}
        ${s.status!=="resolved"?n`<button @click=${()=>this.set(s,"resolved")}>Resolve</button>`:d}
      </td>
    </tr>`),t=["Severity","Rule","Tenant","Group","Events","Fired","Status",""];return this.wanted?n`${this.table(t,e,"No such alert.")}<p><a href="#/alerts">All alerts</a></p>`:n`
<div class="bar">
${this.select("Status",this.status,["open","acknowledged","resolved"],s=>this.status=s)}
${this.select("Severity",this.severity,["critical","high","medium","low"],s=>this.severity=s)}
</div>
${this.table(t,e,"No alerts with this status.")}
${this.cursor?n`<p><button ?disabled=${this.isBusy} @click=${()=>this.more()}>Show older alerts</button></p>`:d}
    `}};var U=ke(class extends xe{constructor(){super(...arguments),this.key=d}render(r,a){return this.key=r,a}update(r,[a,e]){return a!==this.key&&(_e(r),this.key=a),e}});var Oe={name:"headers",label:"Headers, one “name: value” per line",type:"headers"},je={name:"headers",label:"Secret headers, one “name: value” per line",type:"headers",placeholder:"authorization: Bearer …"},R=["json","ocsf"],S={https:{label:"HTTPS",formats:R,settings:[{name:"url",label:"URL",type:"url",required:!0,placeholder:"https://siem.example.com/ingest"},{name:"framing",label:"Body",type:"choice",options:["array","lines"]},Oe],credentials:[je,{name:"signing_secret",label:"Signing secret; a new one if empty",type:"secret",placeholder:"whsec_…"}]},s3:{label:"S3-compatible bucket",formats:R,settings:[{name:"url",label:"URL of the bucket, with a prefix",type:"url",required:!0,placeholder:"https://s3.eu-central-1.amazonaws.com/bucket/audit"},{name:"region",label:"Region",type:"text",required:!0,placeholder:"eu-central-1"},{name:"compress",label:"Compress with gzip",type:"check"}],credentials:[{name:"access_key",label:"Access key",type:"text",required:!0},{name:"secret_key",label:"Secret key",type:"secret",required:!0}]},splunk_hec:{label:"Splunk HTTP Event Collector",formats:R,settings:[{name:"url",label:"URL of the collector",type:"url",required:!0,placeholder:"https://splunk.example.com:8088"},{name:"index",label:"Index",type:"text"},{name:"source",label:"Source",type:"text"},{name:"sourcetype",label:"Source type",type:"text",placeholder:"audit-log"}],credentials:[{name:"token",label:"Token",type:"secret",required:!0}]},datadog:{label:"Datadog",formats:R,settings:[{name:"site",label:"Site",type:"text",placeholder:"datadoghq.eu"},{name:"url",label:"or URL of the intake",type:"url"},{name:"service",label:"Service",type:"text",placeholder:"audit-log"},{name:"tags",label:"Tags",type:"text",placeholder:"env:prod,team:security"}],credentials:[{name:"api_key",label:"API key",type:"secret",required:!0}]},otlp:{label:"OpenTelemetry",formats:R,settings:[{name:"url",label:"URL of the receiver",type:"url",required:!0,placeholder:"https://otel.example.com:4318"},Oe],credentials:[je]},syslog:{label:"Syslog over TLS",formats:[...R,"cef"],settings:[{name:"host",label:"Host",type:"text",required:!0,placeholder:"syslog.example.com"},{name:"port",label:"Port",type:"number",placeholder:"6514"},{name:"app_name",label:"Application name",type:"text",placeholder:"audit-log"},{name:"facility",label:"Facility",type:"number",placeholder:"13"},{name:"ca",label:"Authorities of the receiver, PEM",type:"pem"}],credentials:[{name:"client_certificate",label:"Client certificate, PEM",type:"pem"},{name:"client_key",label:"Client key, PEM",type:"pem"}]}};function nt(r){let a=y(r,/\n/).map(e=>/^([^:]*):?(.*)$/.exec(e)??["","",""]);return Object.fromEntries(a.map(([,e="",t=""])=>[e.trim(),t.trim()]))}function De(r){return Object.entries(r??{}).map(([a,e])=>`${a}: ${e}`).join(`
`)}function oe(r,a,e){let t={};for(let{name:s,type:i}of a){let o=e[`${r}.${s}`];if(i==="check")t[s]=o!==void 0;else{if(o===void 0)continue;i==="number"?t[s]=Number(o):i==="headers"?t[s]=nt(o):t[s]=o}}return t}var P=()=>({kind:"https",isConfigured:!0});function Le(r,a){let e={actions:y(a.actions),categories:y(a.categories),tenant_ids:y(a.tenant_ids,/\n/)},t={name:a.name,format:a.format,include_raw:a.include_raw!==void 0,filter:Object.fromEntries(Object.entries(e).filter(([,i])=>i.length>0))},s=S[r.kind];return r.id===void 0&&(t.kind=r.kind),s&&r.isConfigured&&(t.settings=oe("settings",s.settings,a),t.credentials=oe("credentials",s.credentials,a)),t}function Ce(r,a,e){let t=`${r}.${a.name}`,{label:s,type:i,options:o=[],placeholder:l=""}=a,c=e==null?"":String(e);switch(i){case"check":return n`<label class="check"><input type="checkbox" name=${t} .checked=${e!==!1} />${s}</label>`;case"choice":return n`<label>${s}<select name=${t}>${o.map(h=>n`<option .selected=${h===c}>${h}</option>`)}</select></label>`;case"headers":return n`<label class="wide">${s}<textarea name=${t} rows="2" autocomplete="off" spellcheck="false" placeholder=${l} .value=${De(e)}></textarea></label>`;case"pem":return n`<label class="wide">${s}<textarea name=${t} rows="2" autocomplete="off" spellcheck="false" placeholder="-----BEGIN …" .value=${c}></textarea></label>`;default:return n`<label class=${i==="url"?"wide":""}>${s}<input name=${t} type=${i==="secret"?"password":i} autocomplete="off"
spellcheck="false" ?required=${a.required??!1} placeholder=${l} .value=${c} /></label>`}}function Ne(r,a){let{id:e,kind:t,filter:s={},isConfigured:i}=r,o=S[t],l=p=>a({...r,kind:p.target.value}),c=p=>a({...r,isConfigured:p.target.checked}),h=o?.formats??[];return n`
<label>Name<input name="name" required maxlength="100" autocomplete="off" .value=${r.name??""} /></label>
${e===void 0?n`<label>Kind<select @change=${l}>${Object.entries(S).map(([p,{label:v}])=>n`<option value=${p} .selected=${p===t}>${v}</option>`)}</select></label>`:d}
    <label>Format<select name="format">${h.map(p=>n`<option .selected=${p===(r.format??"json")}>${p}</option>`)}</select></label>
    <label class="check"><input type="checkbox" name="include_raw" .checked=${r.include_raw??!1} />whole event in OCSF records</label>
    <label class="wide">Only actions<input name="actions" placeholder="auth.*, *.deleted" .value=${s.actions?.join(", ")??""} /></label>
    <label class="wide">Only categories<input name="categories" placeholder=${T.join(", ")} .value=${s.categories?.join(", ")??""} /></label>
    <label class="wide">Only tenants, one id per line<textarea name="tenant_ids" rows="2" .value=${s.tenant_ids?.join(`
`)??""}></textarea></label>
    ${e===void 0?d:n`<label class="check"><input type="checkbox" .checked=${i} @change=${c} />Replace settings and all credentials</label>`}
    ${o&&i?U(t,n`${o.settings.map(p=>Ce("settings",p,r.settings?.[p.name]))}
${o.credentials.map(p=>Ce("credentials",p,void 0))}`):d}`}var $=new Intl.NumberFormat,rt={active:"on",delayed:"pending",credentials:"critical",parked:"critical",paused:""},ot={active:"active",delayed:"delayed",credentials:"credentials refused",parked:"parked",paused:"paused"};function ae(r){return n`<span class="badge ${rt[r]??""}">${ot[r]??r}</span>`}function Me({lag_events:r,lag_seconds:a}){let e=r===1?"event":"events";return r===0?"none":`${$.format(r)} ${e}, ${$.format(a??0)} s`}function Ie(r){return typeof r=="string"?b(r):_(r)}function le({status:r,request:a,response:e}){let t=[a||"nothing was sent",`${r??"no status"}: ${e||"no text"}`];return n`<pre tabindex="0">${b(t.join(`
`))}</pre>`}function Fe({events:r}){return n`<ul>${r.map(({position:a,verdict:e,status:t,response:s})=>n`<li>position ${a}: ${e} ${t??""} ${b(s)}</li>`)}</ul>`}function qe(r){let{filter:a,settings:e,credentials:t,previous_credentials_in_use:s}=r,i=[["Id",n`<code>${r.id}</code>`],["Created",n`${m(r.created_at)}`],["Delivered",`${$.format(r.position)} records; next is event ${$.format(r.cursor_seq)} of the log`],["Filter",Object.keys(a).length>0?n`<pre tabindex="0">${_(a)}</pre>`:"all events"],["Settings",n`<pre tabindex="0">${_(e)}</pre>`],["Credentials",`${t.join(", ")||"none"}${s?"; the receiver has taken nothing with the new ones yet, and the ones before are tried as well":""}`]];return n`<table class="facts"><tbody>${i.map(([o,l])=>n`<tr><th scope="row">${o}</th><td>${l}</td></tr>`)}</tbody></table>`}var B=class extends u{constructor(){super();this.form=0;this.heading="Destinations";this.text="A destination sends the events of this project and environment to a SIEM or a bucket, in the order of the log. Nothing is dropped: what a receiver does not take now waits, and what it refuses for good is listed.";this.destinations=[],this.draft=P()}static{this.properties={destinations:{state:!0},opened:{state:!0},draft:{state:!0}}}static{this.styles=[u.styles,k`h3, h4 { overflow-wrap: anywhere; } h4 { margin: 16px 0 6px; } .facts th { white-space: nowrap; vertical-align: top; width: 1%; } .facts pre { border: 0; padding: 0; background: none; } .facts pre, .records pre { max-height: 300px; } .records pre { margin-bottom: 8px; }`]}async load(){if(!this.session.isMaster)return;this.destinations=(await this.session.api.get("/destinations")).destinations;let{draft:e,opened:t}=this;e.id!==void 0&&!this.destinations.some(({id:i})=>i===e.id)&&this.edit(P());let s=this.destinations.find(({id:i})=>i===t?.destination.id);s?await this.open(s,t):this.opened=void 0}edit(e){this.form+=1,this.draft=e}async startEdit(e){this.edit({...e,isConfigured:!1}),await this.updateComplete,this.renderRoot.querySelector("input[name=name]")?.focus()}show(e,t){this.opened?.destination.id===e&&(this.opened={...this.opened,...t})}async open(e,t){let s=await this.session.api.get(`/destinations/${e.id}/set-aside`);this.opened={...t,destination:e,setAside:s.events,cursor:s.cursor}}async showMore(e){let t=await this.session.api.get(`/destinations/${e.destination.id}/set-aside`,{cursor:e.cursor??void 0});this.opened={...e,setAside:[...e.setAside,...t.events],cursor:t.cursor}}async onSubmit(e){let{draft:t}=this,s=Le(t,g(e)),i=async()=>{let{api:o}=this.session,l=t.id===void 0?o.send("POST","/destinations",s):o.send("PATCH",`/destinations/${t.id}`,s),{destination:c}=await l;this.opened={destination:c,setAside:[],cursor:null},c.signing_secret&&this.reveal("Secret that signs requests to the destination",c.signing_secret)};await this.change(i,`${String(s.name)}: stored.`)&&this.edit(P())}setPaused({id:e},t){this.change(()=>this.session.api.send("PATCH",`/destinations/${e}`,{paused:t}),t?"Paused. Events wait.":"The next attempt is made now.")}test({id:e}){this.change(async()=>{this.show(e,{tested:await this.session.api.send("POST",`/destinations/${e}/test`)})})}preview({id:e},t){this.attempt(async()=>{this.show(e,{preview:await this.session.api.get(`/destinations/${e}/preview`,{format:t})})})}confirmRemoval({id:e,name:t,set_aside:s}){this.ask({title:`Delete the destination “${t}”`,verb:"Delete",typed:t,text:`Nothing more is sent, and its list of ${$.format(s)} events that were set aside is deleted. The events stay in the log. To stop for a time, pause it.`,run:()=>this.session.api.send("DELETE",`/destinations/${e}`)})}count(e,{id:t}){let{from_seq:s,from:i,to:o}=g(e),l=p=>p&&new Date(p).toISOString(),c=l(o),h={...s===void 0?{}:{from_seq:Number(s)},...i?{from:l(i)}:{},...c?{to:c}:{},dry_run:!0};this.attempt(async()=>{this.show(t,{counted:void 0});let p=await this.session.api.send("POST",`/destinations/${t}/replay`,h),v={from_seq:p.from_seq,...c?{to:c}:{}};this.show(t,{counted:{range:p,request:v}})})}confirmReplay({id:e,name:t},{range:s,request:i}){this.ask({title:`Replay to “${t}”`,verb:"Start the replay",text:`The events from position ${s.from_seq} of the log on are sent again, beside the new ones, which go on. The receiver has them twice; the records of the replay say that they are of one.`,run:async()=>{await this.session.api.send("POST",`/destinations/${e}/replay`,i),this.show(e,{counted:void 0})}})}confirmStop({id:e}){this.ask({title:"Stop the replay",verb:"Stop",text:"Records that were sent stay at the receiver. New events are not concerned.",run:()=>this.session.api.send("DELETE",`/destinations/${e}/replay`)})}resend({id:e},t){let s=t?{run:t.run,positions:[t.position]}:{};this.change(async()=>{this.show(e,{resent:await this.session.api.send("POST",`/destinations/${e}/set-aside/resend`,s)})})}content(){if(!this.session.isMaster)return n`<p class="notice">Destinations need a master key.</p>`;let{opened:e,draft:t}=this,s=this.destinations.map(o=>n`<tr>
<td>${ae(o.state)}</td>
<th scope="row">${b(o.name)} <span class="muted">${S[o.kind]?.label??o.kind}, ${o.format}</span></th>
<td>${Me(o)}</td>
<td>${m(o.last_success_at)}</td>
<td>${m(o.next_attempt_at)}</td>
<td>${$.format(o.set_aside)}</td>
<td class="actions"><button @click=${()=>this.attempt(()=>this.open(o))}>Open</button></td>
</tr>`),i=t.id===void 0?"New destination":`Edit ${t.name??""}`;return n`<div class="bar"><button @click=${()=>this.attempt(()=>this.load())}>Refresh</button></div>
${this.table(["State","Destination","Lag","Last success","Next attempt","Set aside",""],s,"No destinations in this environment yet.")}
${e?this.details(e):d}
<h3>${i}</h3>
${U(this.form,n`<form class="inline" aria-label=${i} @submit=${this.onSubmit}>
        ${Ne(t,o=>this.draft=o)}
        <button class="primary" ?disabled=${this.isBusy}>${t.id===void 0?"Create destination":"Store changes"}</button>
        ${t.id===void 0?d:n`<button type="button" class="plain" @click=${()=>this.edit(P())}>Cancel</button>`}
      </form>`)}`}details(e){let{destination:t,tested:s}=e,{state:i,paused:o,last_error:l}=t;return n`<h3>${b(t.name)}</h3>
<div class="bar">
<button ?disabled=${this.isBusy} @click=${()=>this.test(t)}>Send a test record</button>
${o?d:n`<button @click=${()=>this.setPaused(t,!0)}>Pause</button>`}
        ${o||i!=="active"?n`<button @click=${()=>this.setPaused(t,!1)}>${o||i==="parked"?"Resume":"Send now"}</button>`:d}
        <button @click=${()=>this.preview(t)}>Preview</button>
        <button @click=${()=>this.startEdit(t)}>Edit</button>
        <button class="danger" @click=${()=>this.confirmRemoval(t)}>Delete</button>
      </div>
      ${s?n`<h4>Test: ${s.verdict}</h4>${le(s)}`:d}
      ${l?n`<h4>Last attempt that failed: ${m(l.at)}</h4>${le(l)}`:d}
      ${qe(t)} ${e.preview?this.previewOf(t,e.preview):d} ${this.replayOf(e)} ${this.setAsideOf(e)}`}previewOf(e,{format:t,records:s}){return n`<h4>Preview</h4>
<p class="muted">The next records; where fewer than ten events wait, the latest ones of the log, as they would come next. Nothing is sent.</p>
<div class="bar"><label>Format of the preview<select @change=${o=>this.preview(e,o.target.value)}>${S[e.kind]?.formats.map(o=>n`<option .selected=${o===t}>${o}</option>`)}</select></label></div>
      <div class="records">${s.length>0?s.map(o=>n`<pre tabindex="0">${Ie(o)}</pre>`):"The log has no event that passes the filter."}</div>`}replayOf({destination:e,counted:t}){let{replay:s}=e;return s?n`<h4>Replay</h4>
<p>${ae(s.state)} ${$.format(s.position)} records were sent; it is at ${$.format(s.cursor_seq)} of ${$.format(s.end_seq)} in the log. Its records have the run ${s.number}.
<button class="danger" @click=${()=>this.confirmStop(e)}>Stop</button></p>`:n`<h4>Replay</h4>
<form class="inline" aria-label="Replay" @submit=${i=>this.count(i,e)}>
<label>Received from<input name="from" type="datetime-local" step="1" /></label>
<label>or from position in the log<input name="from_seq" type="number" min="0" placeholder="0" /></label>
<label>Received before<input name="to" type="datetime-local" step="1" /></label>
<button ?disabled=${this.isBusy}>Count</button>
</form>
${t?this.countOf(e,t):d}`}countOf(e,t){let{from_seq:s,end_seq:i,count:o}=t.range,l=i-s,c=$.format(o?.matching??0),h=o&&o.looked_at<l?`${c} of the first ${$.format(o.looked_at)} events pass the filter; the range has ${$.format(l)}.`:`${c} of the ${$.format(l)} events of the range pass the filter.`;return n`<p role="status">${h}
<button class="primary" ?disabled=${l===0} @click=${()=>this.confirmReplay(e,t)}>Start the replay</button></p>`}setAsideOf({destination:e,setAside:t,cursor:s,resent:i}){let o=t.map(c=>n`<tr>
<td>${c.position}${c.run>0?n` <span class="muted">run ${c.run}</span>`:d}</td>
      <th scope="row"><a href="#/events?event=${c.event_id}">${c.event_id}</a> <span class="muted">${c.seq} in the log</span></th>
      <td>${m(c.at)}</td>
      <td>${b(c.reason)}</td>
      <td class="actions"><button ?disabled=${this.isBusy} @click=${()=>this.resend(e,c)}>Resend</button></td>
    </tr>`),l=c=>{this.attempt(()=>this.showMore(c))};return n`<h4>Set aside</h4>
<p class="muted">Events that the receiver has refused for good. They keep their positions, and leave this list once they are delivered.</p>
${i?n`<p role="status">${$.format(i.events.length)} sent again, ${$.format(i.remaining)} still in the list.</p>${Fe(i)}`:d}
      ${o.length>0?n`<div class="bar"><button ?disabled=${this.isBusy} @click=${()=>this.resend(e)}>Resend the first ten</button></div>`:d}
      ${this.table(["Position","Event","Refused","Response",""],o,"The receiver has refused nothing.")}
      ${s&&this.opened?n`<p><button @click=${()=>this.opened&&l(this.opened)}>Show more</button></p>`:d}`}};var at=["events:write","events:read","alerts","viewer-tokens","admin"],lt=86400,W=class extends u{constructor(){super();this.heading="Projects and keys";this.text="A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";this.keys=[],this.masters=[],this.isRevokedShown=!1}static{this.properties={keys:{state:!0},masters:{state:!0},isRevokedShown:{state:!0}}}async load(){let{api:e,isMaster:t}=this.session;this.keys=(await e.get("/keys")).keys,t&&(this.masters=(await e.get("/master-keys")).master_keys)}revoke(e,t){this.ask({title:`Revoke the key “${e.name}”`,verb:"Revoke",typed:e.name,text:`Every request with ${e.prefix}… is refused from now on. This cannot be undone. Last used: ${e.lastUsedAt??"never"}.`,run:()=>this.session.api.send("DELETE",`${t}/${e.id}`)})}rotate(e,t){this.ask({title:`Replace the key “${e.name}”`,verb:"Replace",text:"A new key with the same limits is created. The old one ends in 24 hours.",run:async()=>{let{key:s}=await this.session.api.send("POST",`${t}/${e.id}/rotate`,void 0,{overlap:lt});this.reveal(`The key that replaces “${e.name}”`,s)}})}renameKey(e){this.ask({title:`Rename the key “${e.name}”`,verb:"Rename",text:"The key itself stays as it is.",name:e.name,run:t=>this.session.api.send("PATCH",`/keys/${e.id}`,{name:t})})}renameProject(e){this.ask({title:`Rename the project “${e.name}”`,verb:"Rename",text:"Its keys, events and log stay as they are.",name:e.name,run:t=>this.changeProject(e,{name:t})})}archive(e){let t=e.archived_at!==void 0;this.ask({title:`${t?"Unarchive":"Archive"} the project “${e.name}”`,verb:t?"Unarchive":"Archive",text:t?"It takes events again.":"It takes no events from now on: applications that send some get an error. Reading, proofs and settings stay possible, and it can be unarchived.",run:()=>this.changeProject(e,{archived:!t})})}editFilters(e){this.ask({title:`Metadata filters of the project “${e.name}”`,verb:"Store",text:"The members of metadata by which events can be filtered, such as metadata.order.id. They apply to all events, also to those that are stored already.",list:{label:"Paths, one per line",items:e.metadata_filter_paths??[]},run:t=>this.changeProject(e,{metadata_filter_paths:y(t,/\n/)})})}async changeProject({id:e},t){let{project:s}=await this.session.api.send("PATCH",`/projects/${e}`,t);this.dispatchEvent(new CustomEvent("project-changed",{detail:s,bubbles:!0,composed:!0}))}async create(e,t){let s=e.target,{networks:i,expires_at:o,...l}=g(e),c=new FormData(s).getAll("scopes"),{scopes:h,...p}=l,v={...p,...t==="/keys"?{type:"project",project_id:this.session.project?.id}:{},...c.length>0?{scopes:c}:{},...i?{networks:y(i)}:{},...o?{expires_at:new Date(o).toISOString()}:{}},w=async()=>{let{key:f}=await this.session.api.send("POST",t,v);this.reveal(`The key “${l.name??""}”`,f)};await this.change(w)&&s.reset()}async createProject(e){let t=e.target,s=g(e),i=async()=>{let{project:o}=await this.session.api.send("POST","/projects",s);this.dispatchEvent(new CustomEvent("project-created",{detail:o,bubbles:!0,composed:!0}))};await this.attempt(i,`Project ${s.name??""} created. It has no keys yet.`)&&t.reset()}rows(e,t){return e.filter(i=>this.isRevokedShown||!i.revokedAt).map(i=>n`<tr>
<th scope="row">${i.name}</th>
<td><code>${i.prefix}…</code></td>
<td>${i.environment??"all projects"}</td>
<td>${i.scopes?.join(", ")??"everything"}${i.networks?n`<br /><span class="muted">from ${i.networks.join(", ")}</span>`:d}</td>
      <td>${m(i.lastUsedAt)}${i.lastUsedFrom?n`<br /><span class="muted">${i.lastUsedFrom}</span>`:d}</td>
      <td>${i.revokedAt?n`<span class="badge failed">revoked</span>`:i.expiresAt?n`until ${m(i.expiresAt)}`:"no end"}</td>
      <td class="actions">
        ${i.revokedAt?d:n`
${this.session.isMaster&&t==="/keys"?n`<button @click=${()=>this.renameKey(i)}>Rename</button>`:d}
          ${this.session.isMaster?n`<button @click=${()=>this.rotate(i,t)}>Replace</button>`:d}
          <button class="danger" @click=${()=>this.revoke(i,t)}>Revoke</button>`}
      </td>
    </tr>`)}projectRows(e){return e.map(t=>n`<tr>
<th scope="row">${t.name}</th>
<td><code>${t.id}</code></td>
<td>${m(t.created_at)}</td>
<td>${m(t.archived_at)}</td>
<td>${t.metadata_filter_paths?.join(", ")??"–"}</td>
<td class="actions">
<button @click=${()=>this.renameProject(t)}>Rename</button>
<button @click=${()=>this.editFilters(t)}>Metadata filters</button>
<button @click=${()=>this.archive(t)}>${t.archived_at?"Unarchive":"Archive"}</button>
</td>
</tr>`)}content(){let e=["Name","Key","Environment","May","Last used","Ends",""],{isMaster:t,project:s,projects:i}=this.session,o=this.keys.filter(l=>!s||l.project_id===s.id);return n`
<label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${()=>this.isRevokedShown=!this.isRevokedShown} /> Show revoked keys</label>
<h3>Keys of the project ${s?.name??""}</h3>
${this.table(e,this.rows(o,"/keys"),"No keys.")}
${t?this.form("/keys","Create project key"):this.masterOnly()}
${t?n`<h3>Projects</h3>
            ${this.table(["Name","ID","Created","Archived","Metadata filters",""],this.projectRows(i),"No projects.")}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">New project: name<input name="name" required maxlength="100" /></label><button class="primary">Create project</button>
            </form>
            <h3>Master keys</h3>
            <p class="muted">A master key administers every project of the organization.</p>
            ${this.table(e,this.rows(this.masters,"/master-keys"),"No master keys.")} ${this.form("/master-keys","Create master key")}`:d}
    `}form(e,t){return n`<form class="inline" @submit=${s=>this.create(s,e)}>
<label>Name<input name="name" required maxlength="100" /></label>
${e==="/keys"?n`<label>Environment<select name="environment"><option>live</option><option>test</option></select></label>`:d}
      <label>Ends<input name="expires_at" type="datetime-local" /></label>
      <label>Networks<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${at.map(s=>n`<label class="check"><input type="checkbox" name="scopes" value=${s} />${s}</label>`)}
      <button class="primary">${t}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`}};var z=()=>fetch("/metrics",{cache:"no-store"}).then(r=>r.ok?r.text():"",()=>"");function A(r,a){let e=r.matchAll(new RegExp(`^${a}(\\{.*\\})? (\\S+)$`,"gm"));return Array.from(e,([,t="",s])=>({labels:t,value:Number(s)}))}var de=100;function ce(r,a){let e=[],t=[],s=i=>i?.startsWith("— ")??!1;for(let i of r.replaceAll("\r","").split(`
`))s(t.at(-1))&&!s(i)&&(e.push(`${t.join(`
`)}
`),t=[]),(t.length>0||i!=="")&&t.push(i);return t.length>0&&e.push(`${t.join(`
`).trimEnd()}
`),e.map((i,o)=>({note:i,source:e.length>1?`${a}, ${o+1}`:a}))}async function dt(r,a,e){let[t,s]=[a.size,e.size];if(a.origin!==e.origin)throw new Error(`it is one of another log: ${a.origin}`);if(t>s)throw new Error(`the log had ${t} events and has ${s} now: events were removed`);let{consistency:i}=t===s?{consistency:[]}:await r.get("/log/consistency",{from:t,to:s});await Se({from:a,to:e,hashes:Te(i,"the consistency proof")})}async function pe(r,a,e,t){let s=[];for(let{note:i,source:o}of a){let l,c="";try{l=await M(i,t),await dt(r,l,e)}catch(h){c=h instanceof Error?h.message:String(h)}s.push({source:o,size:l?.size,root:l?N(l.root):"",fault:c})}return s.sort((i,o)=>(i.size??0)-(o.size??0))}var ct={time_stamp:"a time-stamp authority",webhook:"the webhook",bucket:"the bucket",directory:"the directory"};function He(r,a){let e=Math.max(0,r.split(`
`).filter(s=>s.startsWith("— ")).length-1);return[e===0?"No witness has cosigned this checkpoint.":`Cosignatures of witnesses on this checkpoint: ${e}. audit-server log audit verifies them.`,...pt(a)]}function pt(r){let[a]=A(r,"audit_anchor_last_timestamp_seconds");if(!a)return["This address does not show the metrics of the server, so this page does not know whether the server makes anchors."];if(a.value===0)return["This server has made no anchor: a signed list of the heads of all logs, sent outside every hour."];let t=A(r,"audit_anchors_pending").filter(({value:i})=>i>0).map(({labels:i,value:o})=>`${ct[/place="(\w+)"/.exec(i)?.[1]??""]??"a place"} lacks ${o}`);return[`The latest anchor is of ${new Date(a.value*1e3).toLocaleString()}. ${t.length===0?"All places have all anchors.":`Anchors not sent yet: ${t.join(", ")}.`}`]}var ht=20,Ue=new Intl.NumberFormat,J=class extends u{constructor(){super();this.seen=[];this.note="";this.key="";this.rotations="";this.metrics="";this.heading="The verifiable log";this.text="Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";this.checked={text:"",isGood:!1},this.history=[]}static{this.properties={checked:{state:!0},history:{state:!0}}}async load(){let{api:e}=this.session,t=this.note;[this.note,this.key,this.rotations,this.metrics]=await Promise.all([e.text("/log/checkpoint"),e.text("/log/key"),e.text("/log/key/rotations"),z()]);try{this.checkpoint=await M(this.note,this.key),this.checked={text:"The signature was verified in this browser, with the key below.",isGood:!0},await this.remember(t,this.checkpoint)}catch(s){this.checkpoint=void 0,this.checked={text:`The signature was not verified: ${s instanceof Error?s.message:String(s)}`,isGood:!1}}}async remember(e,t){let s=({note:l})=>l.startsWith(`${t.origin}
`),i={note:e,source:`read before ${new Date().toLocaleTimeString()}`},o=e&&e!==this.note?[...this.seen,i]:this.seen;this.seen=o.filter(s).slice(-ht),this.history=await pe(this.session.api,this.seen,t,this.key)}async compare(e){let t=e.target,{earlier:s="",key:i=""}=g(e),o=t.elements.namedItem("files").files??[];await this.attempt(async()=>{let l=await Promise.all(Array.from(o,async h=>ce(await h.text(),h.name))),c=[...ce(s,"entered"),...l.flat()];if(!this.checkpoint)throw new Error("The present checkpoint is not verified.");if(c.length===0)throw new Error("Enter a checkpoint, or choose files that have some.");if(c.length>de)throw new Error(`There are ${c.length} checkpoints; at most ${de} are verified at once.`);this.history=await pe(this.session.api,[...c,...this.seen],this.checkpoint,i||this.key)})}async evidence(){await this.attempt(async()=>{let t=await(await this.session.api.fetch("GET","/events/export")).blob();I(t,"events.jsonl"),I(new Blob([this.note],{type:"text/plain"}),"checkpoint.txt"),I(new Blob([this.key],{type:"text/plain"}),"key.txt")},"Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.")}content(){let{checkpoint:e,checked:t}=this;return n`
${(({text:i,isGood:o})=>n`<div class="notice ${o?"good":"bad"}" role=${o?"status":"alert"}>${o?"✓":"✗"} ${i}</div>`)(t)}
${e?n`<div class="cards">
            <div class="card"><b>${Ue.format(e.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${N(e.root)}</code><br />Log <code>${e.origin}</code></p>`:d}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim()?n`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>`:d}
      <div class="bar"><button @click=${()=>this.reload()}>Read again</button><button @click=${()=>this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>History</h3>
      <p class="muted">The present checkpoint continues an earlier one if no event before it was changed, removed or inserted. Verify those that you have stored:
        a file may have several. This server keeps the latest checkpoint only, because earlier ones prove something only where nobody who can change the log can
        change them.</p>
      <ul>${He(this.note,this.metrics).map(i=>n`<li>${i}</li>`)}</ul>
      ${this.historyTable()}
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoints<textarea name="earlier" rows="6" spellcheck="false"></textarea></label>
        <label>Files<input name="files" type="file" multiple /></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
    `}historyTable(){let e=this.history.map(({source:t,size:s,root:i,fault:o})=>n`<tr>
<td>${s===void 0?"–":Ue.format(s)}</td><td><code>${i.slice(0,16)}</code></td><td>${t}</td>
<td>${o?n`<div class="notice bad" role="alert">✗ ${o}</div>`:n`<div class="notice good">✓ continued by the present checkpoint</div>`}</td>
    </tr>`);return this.table(["Events","Root","From","Outcome"],e,"No earlier checkpoint yet.")}};var he=30,ut=20,E=new Intl.NumberFormat,mt=[{metric:"audit_webhook_deliveries_pending",label:"deliveries pending, all projects",href:"#/webhooks"},{metric:"audit_destination_lag_events",label:"events that a destination lacks, all projects",href:"#/destinations"},{metric:"audit_store_queue_depth",label:"requests in the write queue"},{metric:"audit_index_backlog_events",label:"events not yet indexed"},{metric:"audit_store_events_to_rebuild",label:"events to index again"},{metric:"audit_database_bytes",label:"database",isBytes:!0},{metric:"audit_database_index_bytes",label:"index, part of the database",isBytes:!0},{metric:"audit_database_wal_bytes",label:"write-ahead log",isBytes:!0}];function gt({events_today:{count:r,max:a}}){return a===null?E.format(r):`${E.format(r)} of ${E.format(a)}`}var K=class extends u{constructor(){super(...arguments);this.heading="Overview";this.text=`The last ${he} days of this project, and the state of the server.`;this.readiness="";this.metrics="";this.formats=new we(navigator.language,se,!1)}static{this.properties={}}static{this.styles=[u.styles,k`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`]}async load(){let{api:e}=this.session,t=new Date(Date.now()-he*864e5).toISOString(),[s,i,o,l,c,h]=await Promise.all([x(Re(e,{start_date:t,interval:"day"},this.formats.zone)),x(e.get("/alerts",{status:"open",limit:ut})),x(e.text("/log/checkpoint")),x(e.get("/usage")),fetch("/readyz",{cache:"no-store"}).then(p=>p.ok,()=>!1),z()]);this.summary=s,this.usage=l?.usage,this.openAlerts=i&&`${i.alerts.length}${i.has_more?"+":""}`,this.logSize=o===void 0?void 0:Number(o.split(`
`)[1]),this.readiness=c?"ready":"not ready",this.metrics=h}gauges(){return mt.flatMap(({metric:e,label:t,href:s,isBytes:i})=>{let[o]=A(this.metrics,e);return o?[this.card(t,i?this.formats.bytes(o.value):o.value,s)]:[]})}card(e,t,s){if(t===void 0)return d;let i=s?n`<a href=${s}>${e}</a>`:n`<span class="muted">${e}</span>`;return n`<div class="card"><b>${typeof t=="number"?E.format(t):t}</b>${i}</div>`}content(){let{summary:e}=this,t=T.map(s=>[s,e?.buckets.reduce((i,o)=>i+(o.categories?.[s]??0),0)??0]);return n`
<div class="cards">
${this.card(`events in ${he} days`,e?.total,"#/events")} ${this.card("events in the log",this.logSize,"#/log")}
        ${this.card("open alerts",this.openAlerts,"#/alerts")} ${this.card("server",this.readiness)}
        ${this.usage?this.card("live events today",gt(this.usage),"#/usage"):d} ${this.gauges()}
      </div>
      ${e?n`<h3>Events per day</h3>
<div class="chart"><audit-log-histogram .summary=${e} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
<h3>By category</h3>
<div class="cards">${t.map(([s,i])=>this.card(se.categories[s]??s,i,`#/events?category=${s}`))}</div>
            ${this.top("Most frequent actions","action",e)} ${this.top("Most active actors","actor_id",e)}
            ${this.top("Tenants","tenant_id",e)}`:d}
    `}onZoom(e){location.hash=`#/events?${new URLSearchParams({start_date:e.detail.start,end_date:e.detail.end})}`}top(e,t,{top:s}){let i=(s[t]??[]).slice(0,8).map(({value:o,count:l})=>n`<tr><td><a href="#/events?${new URLSearchParams({[t]:o})}">${b(o)}</a></td><td>${E.format(l)}</td></tr>`);return n`<h3>${e}</h3><p class="muted">Among the newest ${E.format(s.looked_at)} events.</p>${this.table(["Value","Events"],i,"None.")}`}};var Be=65536,ft=3600,G=class extends u{constructor(){super();this.heading="Portal";this.text="The portal shows the customers of this project their own events, under this name and logo.";this.look={name:null,logo:null}}static{this.properties={look:{state:!0}}}static{this.styles=[u.styles,k`.look { display: flex; align-items: center; gap: 12px; margin: 12px 0; } .look img { max-height: 48px; max-width: 200px; }`]}async load(){this.look=await ye(this.session.api)}store(e,t){return this.change(()=>this.session.api.send("PATCH","/portal",e),t)}async onLogo(e){let t=e.target,s=t.files?.[0];if(!s)return;let i=await vt(s);await this.attempt(()=>{if(s.size>Be)throw new Error(`The file has ${s.size} bytes; at most ${Be} are possible.`);if(!be(i))throw new Error("The logo must be a PNG, JPEG or WebP image.");return Promise.resolve()}),this.failure||await this.store({logo:i},"The logo was stored."),t.value=""}async link(e){let{tenant_id:t="",tier:s=""}=g(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:ft,portal:!0},{portal_url:o}=await this.session.api.send("POST","/viewer-tokens",i);this.reveal(`The portal of ${t}, for an hour`,o)})}content(){let{look:e}=this,{isMaster:t}=this.session;return n`${this.masterOnly()}
<div class="look">${e.logo?n`<img src=${e.logo} alt="Logo" />`:n`<span class="muted">no logo</span>`}<b>${e.name??"Audit log"}</b></div>
      ${t?n`<form class="inline" @submit=${s=>this.store({name:g(s).name??null},"The name was stored.")}>
<label class="wide">Name (empty: “Audit log”)<input name="name" maxlength="100" .value=${e.name??""} /></label>
<button class="primary">Store name</button>
</form>
<form class="inline" @submit=${s=>s.preventDefault()}>
<label class="wide">Logo: PNG, JPEG or WebP, at most 64 KiB<input type="file" accept="image/png,image/jpeg,image/webp" @change=${this.onLogo} /></label>
${e.logo?n`<button @click=${()=>this.store({logo:null},"The logo was removed.")}>Remove logo</button>`:d}
            </form>
            <p class="muted">Links to the portal are made with a live project key.</p>`:n`<h3>Link to the portal</h3>
<p>Whoever has the link can read the events of the tenant for an hour.</p>
<form class="inline" @submit=${this.link}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">Create link</button>
</form>`}`}};function vt(r){return new Promise((a,e)=>{let t=new FileReader;t.onload=()=>a(String(t.result)),t.onerror=()=>e(t.error??new Error("the file cannot be read")),t.readAsDataURL(r)})}var We=["replace","hash","mask"],bt=300,yt={action:"user.created",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe",email:"jane@example.com"},metadata:{note:"paid with 4111 1111 1111 1111, call +1 415 555 0132",header:"Bearer abcdef123456",ok:"fine"}},V=class extends u{constructor(){super();this.event=_(yt);this.heading="Redaction";this.text="Rules remove personal data and secrets before an event is stored. A change applies to the next request; stored events do not change.";this.rules=[],this.fault="",this.type="pattern"}static{this.properties={rules:{state:!0},tested:{state:!0},fault:{state:!0},type:{state:!0}}}async load(){this.rules=(await this.session.api.get("/redaction/rules")).rules,await this.test()}onInput(e){this.event=e.target.value,clearTimeout(this.typing),this.typing=setTimeout(()=>{this.test()},bt)}async test(){let e;try{e=JSON.parse(this.event)}catch(t){this.fault=t instanceof Error?t.message:"not JSON";return}this.fault="",await this.attempt(async()=>{this.tested=await this.session.api.send("POST","/redaction/test",{event:e})})}amend(e,t){this.change(()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,t),`${e.name}: changed.`)}toggle(e,t){if(t.checked)return this.amend(e,{enabled:!0});t.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:"From the next request on, what this rule finds is stored as it was sent, and it cannot be removed from the log later.",run:()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"From the next request on, what this rule finds is stored as it was sent. The rule cannot be restored.",run:()=>this.session.api.send("DELETE",`/redaction/rules/${e.id}`)})}async onSubmit(e){let t=e.target,{fields:s,...i}=g(e),o=i.type==="field_redact"?{...i,fields:y(s)}:i;await this.change(()=>this.session.api.send("POST","/redaction/rules",o),`${i.name??""}: created.`)&&t.reset()}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>n`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.toggle(s,i.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?n`<span class="badge">built-in</span>`:d}</th>
      <td><code>${s.pattern??s.fields?.join(", ")??""}</code></td>
      <td><select aria-label="Behavior of ${s.name}" ?disabled=${!e} @change=${i=>this.amend(s,{behavior:i.target.value})}>
        ${We.map(i=>n`<option .selected=${i===s.behavior}>${i}</option>`)}</select></td>
      <td class="actions">${e&&s.type!=="builtin"?n`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:d}</td>
    </tr>`);return n`${this.masterOnly()} ${this.tester()}
<h3>Rules</h3>${this.table(["On","Rule","Finds","Behavior",""],t,"No rules.")} ${e?this.form():d}`}tester(){let{tested:e}=this;return n`<h3>Try an event</h3>
<div class="columns">
<label>Event (nothing is stored)<textarea rows="14" spellcheck="false" maxlength="65536" .value=${this.event} @input=${this.onInput}></textarea></label>
<div>
<span class="muted">What the rules change: <mark>removed</mark> → <mark class="after">stored</mark></span>
${this.fault?n`<p class="notice bad">${this.fault}</p>`:d}
          ${e?.metadata.was_redacted?n`<div class="scroll"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Sent</th><th scope="col">Stored</th></tr></thead>
<tbody>${Ke(e.original,e.redacted).map(([t,s,i])=>n`<tr><th scope="row"><code>${t}</code></th><td>${Je(s,i,"removed")}</td><td>${Je(i,s,"after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${e.metadata.redacted_rules.join(", ")} · ${e.metadata.rules_evaluated} rules</p>`:e?n`<p>Nothing is removed from this event.</p>`:d}
        </div>
      </div>`}form(){return n`<h3>New rule</h3>
<form class="inline" @submit=${this.onSubmit}>
<label>Type<select name="type" @change=${e=>this.type=e.target.value}>
<option value="pattern">pattern</option><option value="field_redact">fields</option></select></label>
<label>Name<input name="name" required maxlength="100" /></label>
${this.type==="pattern"?n`<label class="wide">Pattern (regular expression)<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`:n`<label class="wide">Paths, separated by commas<input name="fields" required placeholder="**.ssn, actor.email" spellcheck="false" /></label>`}
        <label>Behavior<select name="behavior">${We.map(e=>n`<option>${e}</option>`)}</select></label>
        <button class="primary">Create rule</button>
      </form>`}};function Ke(r,a,e=""){let t=o=>typeof o=="object"&&o!==null&&!Array.isArray(o);if(!t(r)||!t(a))return[[e,ze(r),ze(a)]];let s=[...new Set([...Object.keys(r),...Object.keys(a)])],i=(o,l)=>Object.hasOwn(o,l)?o[l]:void 0;return s.flatMap(o=>Ke(i(r,o),i(a,o),e?`${e}.${o}`:o))}function ze(r){return r===void 0?"":typeof r=="string"?r:_(r)}function Je(r,a,e){let t=0;for(;t<r.length&&r[t]===a[t];)t+=1;let s=0;for(;s<r.length-t&&s<a.length-t&&r.at(-1-s)===a.at(-1-s);)s+=1;let i=r.slice(t,r.length-s);return n`${r.slice(0,t)}${i?n`<mark class=${e}>${i}</mark>`:d}${r.slice(r.length-s)}`}var Q=class extends u{constructor(){super(...arguments);this.heading="Streams";this.text="A client without an account sends events to a stream, which its token names. A claim moves them into this project."}static{this.properties={info:{state:!0},token:{state:!0}}}load(){return Promise.resolve()}async look(e){this.token=g(e).token??"",this.info=void 0,await this.attempt(async()=>{this.info=await this.session.api.get(`/streams/${encodeURIComponent(this.token)}/info`)})}claim(){let{token:e}=this;this.ask({title:"Claim the stream",verb:"Claim",text:`Its ${this.info?.event_count??0} events move into the project ${this.session.project?.name??""}, redacted by its rules. The token can never be used again.`,run:async()=>{await this.session.api.send("POST","/streams/claim",{claim_token:e}),this.info=void 0}})}content(){if(!this.session.isMaster)return n`<p class="notice">Claiming needs a master key.</p>`;let{info:e}=this;return n`<form class="inline" @submit=${this.look}>
<label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
<button class="primary">Look up</button>
</form>
${e?n`<p>${e.event_count} events, ${e.status}, created ${m(e.created_at)}, ends ${m(e.expires_at)}</p>
            <button class="primary" ?disabled=${e.status!=="active"} @click=${()=>this.claim()}>Claim into this project</button>`:""}`}};var Ge=["event","summary","feed","export","proofs"],$t=600,X=class extends u{constructor(){super();this.heading="Viewer tiers";this.text="A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";this.tiers=[]}static{this.properties={tiers:{state:!0},draft:{state:!0},seen:{state:!0}}}async load(){this.session.isMaster&&(this.tiers=(await this.session.api.get("/viewer-tiers")).viewer_tiers)}async onSubmit(e){let t=e.target,s=g(e),i=new FormData(t),o=(w,f)=>i.getAll(w).length===f.length?null:i.getAll(w),l=y(s.actions),c={categories:o("categories",T),actions:l.length>0?l:null,hidden_fields:y(s.hidden_fields),...i.getAll("routes").length===Ge.length?{}:{routes:i.getAll("routes")}},{api:h}=this.session,{draft:p}=this,v=()=>p?h.send("PATCH",`/viewer-tiers/${p.name}`,c):h.send("POST","/viewer-tiers",{name:s.name,...c});await this.change(v,"The tier was stored.")&&(this.draft=void 0)}confirmRemoval(e){this.ask({title:`Delete the tier “${e.name}”`,verb:"Delete",typed:e.name,text:"All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/viewer-tiers/${e.name}`)})}async see(e){let{tenant_id:t="",tier:s=""}=g(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:$t},{token:o}=await this.session.api.send("POST","/viewer-tokens",i);this.seen={token:o,tenant:t,tier:s||"standard"}})}content(){return n`${this.session.isMaster?this.administration():this.lookAs()}`}lookAs(){return n`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
<form class="inline" @submit=${this.see}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">See as this tenant</button>
</form>
${this.seen?n`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`:d}`}administration(){let e=(s,i)=>s===null?i:s.length>0?s.join(", "):"none",t=this.tiers.map(s=>n`<tr>
<th scope="row">${s.name}</th><td>${e(s.categories,"all")}</td><td>${e(s.actions,"all")}</td>
<td>${e(s.hidden_fields,"")}</td><td>${e(s.routes,"all")}</td>
<td class="actions"><button @click=${()=>this.draft=s}>Edit</button> <button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button></td>
</tr>`);return n`${this.table(["Tier","Categories","Actions","Hidden fields","Reads",""],t,"No tiers.")} ${this.form()}
<p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`}form(){let{draft:e}=this,t=(s,i,o)=>n`<fieldset><legend>${i}</legend>
${o.map(l=>n`<label class="check"><input type="checkbox" name=${s} value=${l} .checked=${e?.[s]?.includes(l)??!0} />${l}</label>`)}
    </fieldset>`;return n`<h3>${e?`Edit ${e.name}`:"New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${e?d:n`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${e?.hidden_fields.join(", ")??""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${e?.actions?.join(", ")??""} placeholder="auth.*, document.*" /></label>
        ${t("categories","Categories",T)} ${t("routes","Reads",Ge)}
        <button class="primary">${e?"Store changes":"Create tier"}</button>
        ${e?n`<button type="button" class="plain" @click=${()=>this.draft=void 0}>Cancel</button>`:d}
      </form>`}};var Y=new Intl.NumberFormat,wt={free:"Free",pro:"Pro",enterprise:"Enterprise"},Z=class extends u{constructor(){super(...arguments);this.heading="Usage and plan";this.text="The limits of the plan and of the service, and how far this project uses them. The operator changes the plan with audit-server org plan."}static{this.properties={usage:{state:!0}}}async load(){this.usage=(await this.session.api.get("/usage")).usage}row(e,{count:t,max:s},i=d){let o=s===null?"":s===0?"not in this plan":`${Math.round(100*t/s)} %`;return n`<tr>
<th scope="row">${e} ${i}</th><td>${Y.format(t)}</td><td>${s===null?"no limit":Y.format(s)}</td>
<td>${s?n`<meter min="0" max=${s} high=${s*.9} value=${Math.min(t,s)} aria-label=${`${e}: ${o}`}></meter> `:d}${o}</td>
    </tr>`}content(){let{usage:e}=this;if(!e)return n``;let t=[this.row("Live events today",e.events_today,n`<span class="muted">until ${m(e.day_ends_at)}</span>`),this.row("Keys of the project",e.keys),this.row("Custom redaction rules",e.redaction_rules),this.row("Custom alert rules",e.alert_rules),this.row("Webhooks",e.webhooks),this.row("Viewer tiers",e.viewer_tiers)];return n`<div class="cards">
<div class="card"><b>${wt[e.plan]??e.plan}</b><span class="muted">plan</span></div>
<div class="card"><b>${Y.format(e.events.live)}</b><span class="muted">live events stored</span></div>
<div class="card"><b>${Y.format(e.events.test)}</b><span class="muted">test events stored</span></div>
</div>
${this.table(["","Used","Limit","Share"],t,"")}`}};var ee=class extends u{constructor(){super();this.cursor=null;this.heading="Webhooks";this.text="Each live alert is sent to every enabled webhook as a signed message, with retries.";this.webhooks=[],this.deliveries=[]}static{this.properties={webhooks:{state:!0},opened:{state:!0},deliveries:{state:!0}}}async load(){this.session.isMaster&&(this.webhooks=(await this.session.api.get("/alerts/webhooks")).webhooks,this.opened=this.webhooks.find(({id:e})=>e===this.opened?.id),this.opened&&await this.readDeliveries(this.opened))}async readDeliveries(e,t){let s=await this.session.api.get(`/alerts/webhooks/${e.id}/deliveries`,{cursor:t});this.deliveries=t?[...this.deliveries,...s.deliveries]:s.deliveries,this.cursor=s.cursor,this.opened=e}async onSubmit(e){let t=e.target,s=g(e),i=async()=>{let{webhook:o}=await this.session.api.send("POST","/alerts/webhooks",s);this.reveal("Secret of the new webhook",o.secret)};await this.change(i,"The webhook was created.")&&t.reset()}rotate(e){this.ask({title:"Rotate the secret",verb:"Rotate",text:`A new secret signs messages to ${e.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,run:async()=>{let t=await this.session.api.send("POST",`/alerts/webhooks/${e.id}/rotate-secret`);this.reveal("New secret of the webhook",t.webhook.secret)}})}confirmRemoval(e){this.ask({title:"Delete the webhook",verb:"Delete",text:`Nothing more is sent to ${e.url}. Its deliveries, pending ones included, are deleted too.`,run:()=>this.session.api.send("DELETE",`/alerts/webhooks/${e.id}`)})}toggle(e){let{enabled:t}=e;this.change(()=>this.session.api.send("PATCH",`/alerts/webhooks/${e.id}`,{enabled:!t}),t?"Disabled. Pending deliveries wait.":"Enabled.")}test(e){this.change(async()=>{await this.session.api.send("POST",`/alerts/webhooks/${e.id}/test`),this.opened=e},"A test message is queued. Refresh the deliveries to see its result.")}content(){if(!this.session.isMaster)return n`<p class="notice">Webhooks need a master key.</p>`;let e=this.webhooks.map(t=>n`<tr>
<td><span class="badge ${t.enabled?"on":""}">${t.enabled?"enabled":"disabled"}</span></td>
<th scope="row">${t.url}</th>
<td>${m(t.created_at)}</td>
<td class="actions">
<button @click=${()=>this.attempt(()=>this.readDeliveries(t))}>Deliveries</button>
<button ?disabled=${!t.enabled} @click=${()=>this.test(t)}>Test</button>
<button @click=${()=>this.toggle(t)}>${t.enabled?"Disable":"Enable"}</button>
<button @click=${()=>this.rotate(t)}>Rotate secret</button>
<button class="danger" @click=${()=>this.confirmRemoval(t)}>Delete</button>
</td>
</tr>`);return n`${this.table(["State","URL","Created",""],e,"No webhooks yet.")}
<form class="inline" @submit=${this.onSubmit}>
<label class="wide">New webhook: URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
<button class="primary">Create webhook</button>
</form>
${this.opened?this.deliveryTable(this.opened):d}`}deliveryTable(e){let t=o=>{this.change(()=>this.session.api.send("POST",`/alerts/deliveries/${o.id}/retry`),"An attempt is made now.")},s=({number:o,status_code:l,error:c,duration_ms:h,started_at:p})=>n`<div title=${p}>${o}. ${l??c??"–"} <span class="muted">${h} ms</span></div>`,i=this.deliveries.map(o=>n`<tr>
<td><span class="badge ${o.status}">${o.status}</span></td>
<th scope="row">${o.type}</th>
<td>${m(o.created_at)}</td>
<td>${o.attempts.length>0?o.attempts.map(s):"none yet"}</td>
<td>${m(o.next_attempt_at)}</td>
<td class="actions"><button @click=${()=>t(o)}>Retry</button></td>
</tr>`);return n`<h3>Deliveries to ${e.url}</h3>
<div class="bar"><button @click=${()=>this.attempt(()=>this.readDeliveries(e))}>Refresh</button></div>
${this.table(["Status","Message","Created","Attempts","Next attempt",""],i,"Nothing was sent yet.")}
${this.cursor?n`<p><button @click=${()=>this.attempt(()=>this.readDeliveries(e,this.cursor??void 0))}>Show older deliveries</button></p>`:d}`}};var O=class r{constructor(a,e,t,s,i){this.key=a;this.projects=e;this.project=t;this.environment=s;this.onEnded=i;this.api=new C({baseUrl:"",credential:a,projectId:t?.id,environment:s})}get isMaster(){return this.key.startsWith("mk_")}with(a){let{projects:e,project:t,environment:s}={...this,...a};return new r(this.key,e,t,s,this.onEnded)}};var te=[{path:"overview",label:"Overview",content:r=>n`<console-overview .session=${r}></console-overview>`},{path:"events",label:"Events",content:kt},{path:"alerts",label:"Alerts",content:r=>n`<console-alerts .session=${r} .wanted=${me().alert}></console-alerts>`},{path:"rules",label:"Alert rules",content:r=>n`<console-rules .session=${r}></console-rules>`},{path:"webhooks",label:"Webhooks",content:r=>n`<console-webhooks .session=${r}></console-webhooks>`},{path:"destinations",label:"Destinations",content:r=>n`<console-destinations .session=${r}></console-destinations>`},{path:"redaction",label:"Redaction",content:r=>n`<console-redaction .session=${r}></console-redaction>`},{path:"tiers",label:"Viewer tiers",content:r=>n`<console-tiers .session=${r}></console-tiers>`},{path:"portal",label:"Portal",content:r=>n`<console-portal .session=${r}></console-portal>`},{path:"keys",label:"Projects and keys",content:r=>n`<console-keys .session=${r}></console-keys>`},{path:"streams",label:"Streams",content:r=>n`<console-streams .session=${r}></console-streams>`},{path:"usage",label:"Usage and plan",content:r=>n`<console-usage .session=${r}></console-usage>`},{path:"log",label:"Verifiable log",content:r=>n`<console-log .session=${r}></console-log>`}];function me(){let[r,a=""]=location.hash.split("?"),e=new URLSearchParams(a),t=e.get("alert")??"";return r!=="#/alerts"||!/^alt_[0-9A-Z]{26}$/.test(t)?{}:{alert:t,project:e.get("project")??"",environment:e.get("environment")==="test"?"test":"live"}}function kt(r){let[,a=""]=location.hash.split("?"),{filter:e,event:t}=$e(a),{key:s,project:i,environment:o}=r;return n`<audit-log-viewer lang="en" .token=${s} .projectId=${i?.id} .environment=${o} .filter=${xt(e)} .wanted=${t}></audit-log-viewer>`}var ue={};function xt(r){return JSON.stringify(r)!==JSON.stringify(ue)&&(ue=r),ue}var ge=class extends j{static{this.properties={session:{state:!0},failure:{state:!0},path:{state:!0},isBusy:{state:!0}}}static{this.styles=[D,fe,k`
:host { display: flex; flex-direction: column; height: 100vh; height: 100dvh; background: var(--bg); }
.bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; padding: 8px 14px; border-bottom: 1px solid var(--border); }
.bar h1 { margin: 0 auto 0 0; font-size: 1.1em; font-weight: 600; } .bar h1 a { color: inherit; text-decoration: none; }
.bar .test { background: var(--warn-bg); color: var(--warn); padding: 3px 10px; border-radius: 12px; }
.main { display: flex; flex: 1; min-height: 0; }
nav { flex: 0 0 178px; display: flex; flex-direction: column; gap: 1px; padding: 10px 8px; border-inline-end: 1px solid var(--border); background: var(--surface); overflow: auto; }
nav a { padding: 6px 10px; border-radius: var(--radius); color: inherit; text-decoration: none; white-space: nowrap; }
nav a:hover { background: var(--selected); } nav a[aria-current] { background: var(--selected); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
.content { flex: 1; min-width: 0; min-height: 0; overflow: auto; display: flex; flex-direction: column; }
.content > * { flex: 1; } audit-log-viewer { --audit-height: auto; min-height: 0; }
.sign-in { margin: auto; width: min(420px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
.sign-in h1 { margin: 0 0 6px; font-size: 1.3em; } .sign-in label { display: flex; flex-direction: column; gap: 4px; margin: 14px 0; }
@media (max-width: 720px) {
.main { flex-direction: column; }
nav { flex: none; flex-direction: row; border-inline-end: 0; border-bottom: 1px solid var(--border); padding: 4px 8px; }
nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
}
`]}constructor(){super(),this.path=this.pathOfHash(),this.isBusy=!1,addEventListener("hashchange",()=>{this.path=this.pathOfHash(),this.followLink(),this.requestUpdate()})}pathOfHash(){let a=location.hash.replace(/^#\//,"").split("?")[0]??"";return te.some(e=>e.path===a)?a:"overview"}async signIn(a){a.preventDefault();let e=a.target.elements.namedItem("key"),t=e.value.trim();e.value="",this.isBusy=!0,this.failure=void 0;try{this.session=await this.open(t)}catch(s){this.failure=L(s)}finally{this.isBusy=!1}}async open(a){let e=new C({baseUrl:"",credential:a}),t=c=>{this.session=void 0,this.failure=c};if(!a.startsWith("mk_")){let h=(await x(e.get("/keys")))?.keys[0]?.project_id,p=h===void 0?void 0:{id:h,name:"",created_at:""};return new O(a,[],p,a.startsWith("pk_test_")?"test":"live",t)}let s=(await x(e.get("/projects",{archived:"all"})))?.projects??[],i=s.find(({archived_at:c})=>!c)??s[0],o=me(),l=s.find(({id:c})=>c===o.project)??i;return new O(a,s,l,o.environment??"live",t)}followLink(){let{session:a}=this,{project:e,environment:t}=me();if(!a?.isMaster||t===void 0)return;let s=a.projects.find(i=>i.id===e)??a.project;s?.id===a.project?.id&&t===a.environment||(this.session=a.with({project:s,environment:t}))}onProject(a){let e=a.target.value;this.session=this.session?.with({project:this.session.projects.find(t=>t.id===e)})}onCreated(a){let{session:e}=this;e&&(this.session=e.with({projects:[...e.projects,a.detail],project:a.detail}))}onChanged({detail:a}){let{session:e}=this;if(!e)return;let t=e.projects.map(s=>s.id===a.id?a:s);this.session=e.with({projects:t,project:t.find(({id:s})=>s===e.project?.id)})}render(){return this.session?this.workspace(this.session):this.signInForm()}signInForm(){let{failure:a}=this;return n`<form class="sign-in" @submit=${this.signIn}>
<h1>Audit log console</h1>
<p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
${a?n`<p class="notice bad" role="alert">${a.message}</p>`:d}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy?"Signing in …":"Sign in"}</button>
    </form>`}workspace(a){let e=te.find(({path:l})=>l===this.path)??te[0];document.title=`${e?.label??""} · Audit log`;let{isMaster:t,projects:s,project:i,environment:o}=a;return n`
<header class="bar">
<h1><a href="#/overview">Audit log</a></h1>
${o==="test"?n`<span class="test">test environment</span>`:d}
        ${t?n`<select aria-label="Project" @change=${this.onProject}>${s.map(({id:l,name:c,archived_at:h})=>n`<option value=${l} .selected=${l===i?.id}>${c}${h?" (archived)":""}</option>`)}</select>
              <select aria-label="Environment" @change=${l=>this.session=a.with({environment:l.target.value})}>
                ${["live","test"].map(l=>n`<option .selected=${l===o}>${l}</option>`)}
              </select>`:n`<span class="muted">project key</span>`}
        <button @click=${()=>this.session=void 0}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${te.map(({path:l,label:c})=>n`<a href="#/${l}" aria-current=${l===e?.path?"page":d}>${c}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated} @project-changed=${this.onChanged}>${e?.content(a)}</div>
      </div>
    `}};Ee();var _t=[["console-overview",K],["console-alerts",H],["console-rules",q],["console-webhooks",ee],["console-destinations",B],["console-redaction",V],["console-tiers",X],["console-keys",W],["console-streams",Q],["console-portal",G],["console-usage",Z],["console-log",J],["console-page",ge]];for(let[r,a]of _t)customElements.define(r,a);document.querySelector("#app")?.append(document.createElement("console-page"));
/*! Bundled license information:

lit-html/directives/keyed.js:
  (**
   * @license
   * Copyright 2021 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
