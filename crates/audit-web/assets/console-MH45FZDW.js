import{a as w,b as J,c as E,d as le,e as A,f as k,g as de,h as ce,i as _,j as pe,l as he,m as j,n as ue,o as me,p as O,q as C,r as Q,u as ge,v as ve}from"./shared-KJN2Z2G3.js";import{a as $,b as r,e as d,g as P,h as R,i as ae}from"./shared-SGDPOWOS.js";function Pe(n,o){let[e="",...t]=n.split("*");if(t.length===0)return n===o;if(!o.startsWith(e))return!1;let s=e.length,i=t.pop()??"";for(let a of t){let l=o.indexOf(a,s);if(l<0)return!1;s=l+a.length}return o.length-i.length>=s&&o.endsWith(i)}var Re=["failure","denied"];function Ee(n){let o=`http://[${n}]/`;if(!/^[0-9A-Fa-f:.]+$/.test(n)||!URL.canParse(o))return n;let e=new URL(o).hostname.slice(1,-1),t=/^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(e);return t?t.slice(1).map(s=>`${parseInt(s,16)>>8}.${parseInt(s,16)&255}`).join("."):e}var Ae=n=>n?Ee(n):void 0,D={actor_id:n=>n.actor?.id,tenant_id:n=>n.tenant_id,ip_address:n=>Ae(n.context?.ip_address),session_id:n=>n.context?.session_id??void 0,target_id:n=>n.target?.id};function je(n,o){let{action:e,actor:t,category:s,outcome:i}=o,a=(p=[])=>p.some(h=>Pe(h,e??"")),l=Re.includes(i)&&a(n.failed_action_patterns);if(!e||!(a([n.action_pattern,...n.further_action_patterns??[]])||l))return!1;let c=(p,h)=>!p?.length||p.includes(h??"");return c(n.actor_types,t?.type)&&c(n.categories,s)&&c(n.outcomes,i)&&!n.not_actor_ids?.includes(t?.id??"")}function Oe(n,o){let e=[...n].sort((i,a)=>i.received_at<a.received_at?-1:1),t=new Map,s={lookedAt:n.length,matching:0,alerts:[]};for(let i of e){if(!je(o,i))continue;let a=D[o.group_by]?.(i),l=o.count_distinct?D[o.count_distinct]?.(i):i.id;if(a===void 0||l===void 0)continue;s.matching+=1;let c=`${i.tenant_id}
${a}`,p=Date.parse(i.occurred_at),h=t.get(c)??{counted:new Map,quietUntil:-1/0};t.set(c,h);for(let[f,b]of h.counted)b<p-o.window_seconds*1e3&&h.counted.delete(f);h.counted.set(l,Math.max(p,h.counted.get(l)??p)),!(h.counted.size<o.threshold||p<h.quietUntil)&&(s.alerts.unshift({group:a,at:i.occurred_at,count:h.counted.size}),h.quietUntil=p+o.cooldown_seconds*1e3,h.counted.clear())}return s}async function fe(n,o){let t=!o.further_action_patterns?.length&&!o.failed_action_patterns?.length?o.action_pattern.split("*")[0]??"":"",s=t===""?void 0:o.action_pattern===t?t:`${t}*`,i=[],a;do{let l=await n.get("/events",{action:s,limit:200,cursor:a});i.push(...l.events),a=l.cursor??void 0}while(a&&i.length<2e3);return Oe(i.slice(0,2e3),o)}var Ce=new Intl.DateTimeFormat(void 0,{dateStyle:"medium",timeStyle:"medium"});function v(n){return n?r`<time datetime=${n} title=${n}>${Ce.format(new Date(n))}</time>`:"–"}function g(n){n.preventDefault();let o={};for(let[e,t]of new FormData(n.target))typeof t=="string"&&t.trim()!==""&&(o[e]=t.trim());return o}function y(n,o=/[\n,]/){return(n??"").split(o).map(e=>e.trim()).filter(e=>e!=="")}var u=class extends P{constructor(){super();this.attempts=0;this.loading=new AbortController;this.notice="",this.typed="",this.isBusy=!1,this.isLoaded=!1}static{this.properties={session:{attribute:!1},failure:{state:!0},notice:{state:!0},question:{state:!0},secret:{state:!0},typed:{state:!0},isBusy:{state:!0},isLoaded:{state:!0}}}static{this.styles=[R,$`
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
`]}willUpdate(e){e.has("session")&&this.reload()}async reload(){this.isLoaded=!1,await this.loadNewest()}async loadNewest(){this.loading.abort();let{signal:e}=this.loading=new AbortController;await this.attempt(()=>this.load(e)),e.aborted||(this.isLoaded=!0)}async attempt(e,t=""){this.attempts+=1,this.isBusy=!0,this.failure=void 0,this.notice="";try{return await e(),this.notice=t,!0}catch(s){return le(s)||(this.failure=A(s),this.failure.kind==="expired"&&this.session.onEnded(this.failure)),!1}finally{this.attempts-=1,this.isBusy=this.attempts>0,this.requestUpdate()}}async change(e,t=""){return await this.attempt(e)?(await this.loadNewest(),this.failure||(this.notice=t),!0):!1}ask(e){this.typed=e.name??e.list?.items.join(`
`)??"",this.question=e,this.showDialog()}reveal(e,t){this.secret={title:e,value:t},this.showDialog()}async showDialog(){await this.updateComplete;let e=this.renderRoot.querySelector("dialog");e&&!e.open&&e.showModal()}closeDialog(){this.question=void 0,this.secret=void 0}render(){let{failure:e}=this;return r`
<h2>${this.heading}</h2>
<p class="muted">${this.text}</p>
${e?r`<div class="notice bad" role="alert">
            <b>${e.message}</b>
            ${e.details.map(({field:t,message:s})=>r`<span><code>${t}</code> ${s}</span>`)}
            ${e.requestId?r`<span class="mono">${e.requestId}</span>`:d}
            <button @click=${()=>this.reload()}>Try again</button>
          </div>`:d}
      <div role="status">${this.notice?r`<div class="notice good">${this.notice}</div>`:d}</div>
      ${this.isLoaded?this.content():r`<p class="spinner">Loading …</p>`} ${this.question?this.questionDialog(this.question):d}
      ${this.secret?this.secretDialog(this.secret):d}
    `}questionDialog({title:e,text:t,verb:s,typed:i,name:a,list:l,run:c}){let p=async b=>{b.preventDefault();let m=this.typed.trim();this.closeDialog(),await this.change(()=>c(m),`${e}: done.`)},h=b=>{this.typed=b.target.value},f=a===void 0&&l===void 0;return r`<dialog aria-labelledby="question" @close=${()=>this.closeDialog()}>
<form @submit=${p}>
<h3 id="question">${e}</h3>
<p>${t}</p>
${i?r`<label>To confirm, type ${i}
              <input autocomplete="off" spellcheck="false" @input=${h} /></label>`:d}
        ${a===void 0?d:r`<label>New name<input required maxlength="100" autocomplete="off" .value=${a} @input=${h} /></label>`}
        ${l?r`<label>${l.label}<textarea rows="6" autocomplete="off" spellcheck="false" .value=${l.items.join(`
`)} @input=${h}></textarea></label>`:d}
        <footer>
          <button type="button" @click=${()=>this.closeDialog()}>Cancel</button>
          <button class=${f?"danger":"primary"} ?disabled=${i!==void 0&&this.typed!==i}>${s}</button>
        </footer>
      </form>
    </dialog>`}secretDialog({title:e,value:t}){return r`<dialog aria-labelledby="secret" @close=${()=>this.closeDialog()}>
<h3 id="secret">${e}</h3>
<p>It is shown only now. The server cannot show it again.</p>
<pre tabindex="0">${t}</pre>
<footer>
<button @click=${async()=>{await navigator.clipboard.writeText(t).catch(()=>{}),this.notice="Copied."}}>Copy</button>
<button class="primary" @click=${()=>this.closeDialog()}>I have stored it</button>
</footer>
</dialog>`}table(e,t,s){return t.length===0?r`<div class="empty">${s}</div>`:r`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
<table>
<thead><tr>${e.map(i=>r`<th scope="col">${i||r`<span class="visually-hidden">Actions</span>`}</th>`)}</tr></thead>
        <tbody>${t}</tbody>
      </table>
    </div>`}masterOnly(){return this.session.isMaster?d:r`<p class="notice">Changes need a master key. You are signed in with a project key.</p>`}};var X=["threshold","window_seconds","cooldown_seconds"],Y=["actor_types","categories","outcomes","not_actor_ids"],Z=(n,o=[])=>o.join(n==="not_actor_ids"?`
`:", "),be=Object.keys(D),Ne=be.filter(n=>n!=="tenant_id"),N=class extends u{constructor(){super();this.heading="Alert rules";this.text="A rule counts events whose action matches its pattern, by actor, tenant, address, session or target, and raises an alert at its threshold. Built-in rules can be switched off; their numbers and conditions can be changed.";this.rules=[],this.draft={}}static{this.properties={rules:{state:!0},preview:{state:!0},draft:{state:!0}}}async load(){this.rules=(await this.session.api.get("/alerts/rules")).rules}amend(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,t),`${e.name}: changed.`)}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"The rule stops at once. Alerts that it has raised stay. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/alerts/rules/${e.id}`)})}async show(e,t){this.preview=void 0,await this.attempt(async()=>{this.preview={name:t,result:await fe(this.session.api,e)}})}async onSubmit(e){let t=g(e),s={...t};for(let m of X)m in s&&(s[m]=Number(s[m]));for(let m of Y)s[m]=y(t[m],m==="not_actor_ids"?/\n/:void 0);if(e.submitter?.value==="preview")return this.show(s,"this rule");let{id:a,type:l}=this.draft,c=new FormData(e.target);if(a)for(let m of Y)c.get(m)===Z(m,this.draft[m])&&delete s[m];let p=Object.fromEntries([...X,...Y].map(m=>[m,s[m]])),h=l==="builtin"?p:{...s,...a&&!t.count_distinct?{count_distinct:null}:{}},{api:f}=this.session,b=()=>a?f.send("PATCH",`/alerts/rules/${a}`,h):f.send("POST","/alerts/rules",h);await this.change(b,`${String(s.name)}: stored.`)&&(this.draft={})}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>r`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.amend(s,{enabled:i.target.checked})} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?r`<span class="badge">built-in</span>`:d}</th>
      <td><code>${s.action_pattern}</code></td>
      <td>${s.threshold}${s.count_distinct?` distinct ${s.count_distinct}`:""} in ${s.window_seconds} s by ${s.group_by}</td>
      <td><span class="badge ${s.severity}">${s.severity}</span></td>
      <td>${s.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${()=>this.show(s,s.name)}>Preview</button>
        ${e?r`<button @click=${()=>this.draft=s}>Edit</button>`:d}
        ${e&&s.type==="custom"?r`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:d}
      </td>
    </tr>`);return r`${this.masterOnly()} ${this.table(["On","Rule","Action","Fires at","Severity","Cooldown",""],t,"No rules.")}
${this.preview?this.previewOf(this.preview.name,this.preview.result):d} ${e?this.form():d}`}previewOf(e,{lookedAt:t,matching:s,alerts:i}){let a=i.slice(0,20).map(l=>r`<tr><td>${w(l.group)}</td><td>${l.count}</td><td>${v(l.at)}</td></tr>`);return r`<h3>Preview of ${e}</h3>
<p>Among the newest ${t} events with this action (at most ${2e3}), ${s} match. The rule would have raised <b>${i.length}</b> alerts. The preview counts by the time of the events; the server also leaves out events that arrive later than the window.</p>
${this.table(["Group","Count","Time"],a,"It would have raised no alert.")}`}form(){let{draft:e}=this,t=e.type==="builtin",s=(l,c,p,h,f={})=>r`<label>
${c}<input name=${l} type=${p} required ?disabled=${t&&!X.includes(l)} min=${f.min??d} max=${f.max??d} .value=${String(e[l]??h)} />
</label>`,i=(l,c,p)=>r`<label>
${c}<select name=${l} ?disabled=${t}>${p.map(h=>r`<option value=${h} .selected=${(e[l]??"")===h}>${h||"events"}</option>`)}</select>
    </label>`,a=(l,c)=>r`<label class="wide">
${c}<input name=${l} .value=${Z(l,e[l])} />
</label>`;return r`<h3>${e.id?`Edit ${e.name??""}`:"New rule"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${s("name","Name","text","")} ${s("action_pattern","Action pattern","text","*.deleted")}
        ${s("threshold","Threshold","number",5,{min:1,max:1e4})} ${s("window_seconds","Window, seconds","number",300,{min:60,max:3600})}
        ${i("count_distinct","Count distinct",["",...Ne])} ${i("group_by","Count by",be)} ${i("severity","Severity",["low","medium","high","critical"])}
        ${s("cooldown_seconds","Cooldown, seconds","number",3600,{min:0,max:604800})}
        ${a("actor_types","Only actor types")} ${a("categories","Only categories")}
        ${a("outcomes","Only outcomes")} <label class="wide">Not these actors, one id per line<textarea name="not_actor_ids" rows="2" .value=${Z("not_actor_ids",e.not_actor_ids)}></textarea></label>
        <button class="primary" value="store">${e.id?"Store changes":"Create rule"}</button>
        ${t?d:r`<button value="preview">Preview</button>`}
        ${e.id?r`<button type="button" class="plain" @click=${()=>this.draft={}}>Cancel</button>`:d}
      </form>`}};var L=class extends u{constructor(){super();this.cursor=null;this.heading="Alerts";this.text="Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";this.status="open",this.severity="",this.alerts=[]}static{this.properties={status:{state:!0},severity:{state:!0},alerts:{state:!0},wanted:{attribute:!1}}}read(e,t){return this.session.api.get("/alerts",{status:this.status,severity:this.severity,cursor:t},e)}willUpdate(e){(e.has("session")||e.has("wanted"))&&this.reload()}reload(){return this.alerts=[],this.cursor=null,super.reload()}async load(e){if(this.wanted){this.alerts=[(await this.session.api.get(`/alerts/${this.wanted}`,{},e)).alert],this.cursor=null;return}let t=await this.read(e);this.alerts=t.alerts,this.cursor=t.cursor}async more(){await this.attempt(async()=>{let e=await this.read(this.loading.signal,this.cursor??void 0);this.alerts=[...this.alerts,...e.alerts],this.cursor=e.cursor})}set(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/${e.id}`,{status:t}),`${e.rule_name}: ${t}.`)}select(e,t,s,i){return r`<label>${e}<select @change=${l=>{i(l.target.value),this.reload()}}>
<option value="" .selected=${t===""}>all</option>
${s.map(l=>r`<option .selected=${l===t}>${l}</option>`)}
    </select></label>`}content(){let e=this.alerts.map(s=>r`<tr>
<td><span class="badge ${s.severity}">${s.severity}</span></td>
<th scope="row">${s.rule_name}</th>
<td>${w(s.tenant_id)}</td>
<td>${s.group_by} ${w(s.group_key)}${s.actor_name?r` (${w(s.actor_name)})`:d}</td>
      <td>${s.event_count}${s.count_distinct?` distinct ${s.count_distinct}`:""}: ${s.sample_event_ids.slice(0,3).map((i,a)=>r`<a href="#/events?event=${i}">event ${a+1}</a> `)}</td>
      <td>${v(s.fired_at)}</td>
      <td><span class="badge ${s.status}">${s.status}</span></td>
      <td class="actions">
        ${s.status==="open"?r`<button @click=${()=>this.set(s,"acknowledged")}>Acknowledge</button>`:d}
        ${s.status!=="resolved"?r`<button @click=${()=>this.set(s,"resolved")}>Resolve</button>`:d}
      </td>
    </tr>`),t=["Severity","Rule","Tenant","Group","Events","Fired","Status",""];return this.wanted?r`${this.table(t,e,"No such alert.")}<p><a href="#/alerts">All alerts</a></p>`:r`
<div class="bar">
${this.select("Status",this.status,["open","acknowledged","resolved"],s=>this.status=s)}
${this.select("Severity",this.severity,["critical","high","medium","low"],s=>this.severity=s)}
</div>
${this.table(t,e,"No alerts with this status.")}
${this.cursor?r`<p><button ?disabled=${this.isBusy} @click=${()=>this.more()}>Show older alerts</button></p>`:d}
    `}};var Le=["events:write","events:read","alerts","viewer-tokens","admin"],Me=86400,M=class extends u{constructor(){super();this.heading="Projects and keys";this.text="A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";this.keys=[],this.masters=[],this.isRevokedShown=!1}static{this.properties={keys:{state:!0},masters:{state:!0},isRevokedShown:{state:!0}}}async load(){let{api:e,isMaster:t}=this.session;this.keys=(await e.get("/keys")).keys,t&&(this.masters=(await e.get("/master-keys")).master_keys)}revoke(e,t){this.ask({title:`Revoke the key “${e.name}”`,verb:"Revoke",typed:e.name,text:`Every request with ${e.prefix}… is refused from now on. This cannot be undone. Last used: ${e.lastUsedAt??"never"}.`,run:()=>this.session.api.send("DELETE",`${t}/${e.id}`)})}rotate(e,t){this.ask({title:`Replace the key “${e.name}”`,verb:"Replace",text:"A new key with the same limits is created. The old one ends in 24 hours.",run:async()=>{let{key:s}=await this.session.api.send("POST",`${t}/${e.id}/rotate`,void 0,{overlap:Me});this.reveal(`The key that replaces “${e.name}”`,s)}})}renameKey(e){this.ask({title:`Rename the key “${e.name}”`,verb:"Rename",text:"The key itself stays as it is.",name:e.name,run:t=>this.session.api.send("PATCH",`/keys/${e.id}`,{name:t})})}renameProject(e){this.ask({title:`Rename the project “${e.name}”`,verb:"Rename",text:"Its keys, events and log stay as they are.",name:e.name,run:t=>this.changeProject(e,{name:t})})}archive(e){let t=e.archived_at!==void 0;this.ask({title:`${t?"Unarchive":"Archive"} the project “${e.name}”`,verb:t?"Unarchive":"Archive",text:t?"It takes events again.":"It takes no events from now on: applications that send some get an error. Reading, proofs and settings stay possible, and it can be unarchived.",run:()=>this.changeProject(e,{archived:!t})})}editFilters(e){this.ask({title:`Metadata filters of the project “${e.name}”`,verb:"Store",text:"The members of metadata by which events can be filtered, such as metadata.order.id. They apply to all events, also to those that are stored already.",list:{label:"Paths, one per line",items:e.metadata_filter_paths??[]},run:t=>this.changeProject(e,{metadata_filter_paths:y(t,/\n/)})})}async changeProject({id:e},t){let{project:s}=await this.session.api.send("PATCH",`/projects/${e}`,t);this.dispatchEvent(new CustomEvent("project-changed",{detail:s,bubbles:!0,composed:!0}))}async create(e,t){let s=e.target,{networks:i,expires_at:a,...l}=g(e),c=new FormData(s).getAll("scopes"),{scopes:p,...h}=l,f={...h,...t==="/keys"?{type:"project",project_id:this.session.project?.id}:{},...c.length>0?{scopes:c}:{},...i?{networks:y(i)}:{},...a?{expires_at:new Date(a).toISOString()}:{}},b=async()=>{let{key:m}=await this.session.api.send("POST",t,f);this.reveal(`The key “${l.name??""}”`,m)};await this.change(b)&&s.reset()}async createProject(e){let t=e.target,s=g(e),i=async()=>{let{project:a}=await this.session.api.send("POST","/projects",s);this.dispatchEvent(new CustomEvent("project-created",{detail:a,bubbles:!0,composed:!0}))};await this.attempt(i,`Project ${s.name??""} created. It has no keys yet.`)&&t.reset()}rows(e,t){return e.filter(i=>this.isRevokedShown||!i.revokedAt).map(i=>r`<tr>
<th scope="row">${i.name}</th>
<td><code>${i.prefix}…</code></td>
<td>${i.environment??"all projects"}</td>
<td>${i.scopes?.join(", ")??"everything"}${i.networks?r`<br /><span class="muted">from ${i.networks.join(", ")}</span>`:d}</td>
      <td>${v(i.lastUsedAt)}${i.lastUsedFrom?r`<br /><span class="muted">${i.lastUsedFrom}</span>`:d}</td>
      <td>${i.revokedAt?r`<span class="badge failed">revoked</span>`:i.expiresAt?r`until ${v(i.expiresAt)}`:"no end"}</td>
      <td class="actions">
        ${i.revokedAt?d:r`
${this.session.isMaster&&t==="/keys"?r`<button @click=${()=>this.renameKey(i)}>Rename</button>`:d}
          ${this.session.isMaster?r`<button @click=${()=>this.rotate(i,t)}>Replace</button>`:d}
          <button class="danger" @click=${()=>this.revoke(i,t)}>Revoke</button>`}
      </td>
    </tr>`)}projectRows(e){return e.map(t=>r`<tr>
<th scope="row">${t.name}</th>
<td><code>${t.id}</code></td>
<td>${v(t.created_at)}</td>
<td>${v(t.archived_at)}</td>
<td>${t.metadata_filter_paths?.join(", ")??"–"}</td>
<td class="actions">
<button @click=${()=>this.renameProject(t)}>Rename</button>
<button @click=${()=>this.editFilters(t)}>Metadata filters</button>
<button @click=${()=>this.archive(t)}>${t.archived_at?"Unarchive":"Archive"}</button>
</td>
</tr>`)}content(){let e=["Name","Key","Environment","May","Last used","Ends",""],{isMaster:t,project:s,projects:i}=this.session,a=this.keys.filter(l=>!s||l.project_id===s.id);return r`
<label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${()=>this.isRevokedShown=!this.isRevokedShown} /> Show revoked keys</label>
<h3>Keys of the project ${s?.name??""}</h3>
${this.table(e,this.rows(a,"/keys"),"No keys.")}
${t?this.form("/keys","Create project key"):this.masterOnly()}
${t?r`<h3>Projects</h3>
            ${this.table(["Name","ID","Created","Archived","Metadata filters",""],this.projectRows(i),"No projects.")}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">New project: name<input name="name" required maxlength="100" /></label><button class="primary">Create project</button>
            </form>
            <h3>Master keys</h3>
            <p class="muted">A master key administers every project of the organization.</p>
            ${this.table(e,this.rows(this.masters,"/master-keys"),"No master keys.")} ${this.form("/master-keys","Create master key")}`:d}
    `}form(e,t){return r`<form class="inline" @submit=${s=>this.create(s,e)}>
<label>Name<input name="name" required maxlength="100" /></label>
${e==="/keys"?r`<label>Environment<select name="environment"><option>live</option><option>test</option></select></label>`:d}
      <label>Ends<input name="expires_at" type="datetime-local" /></label>
      <label>Networks<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${Le.map(s=>r`<label class="check"><input type="checkbox" name="scopes" value=${s} />${s}</label>`)}
      <button class="primary">${t}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`}};var I=()=>fetch("/metrics",{cache:"no-store"}).then(n=>n.ok?n.text():"",()=>"");function T(n,o){let e=n.matchAll(new RegExp(`^${o}(\\{.*\\})? (\\S+)$`,"gm"));return Array.from(e,([,t="",s])=>({labels:t,value:Number(s)}))}var ee=100;function te(n,o){let e=[],t=[],s=i=>i?.startsWith("— ")??!1;for(let i of n.replaceAll("\r","").split(`
`))s(t.at(-1))&&!s(i)&&(e.push(`${t.join(`
`)}
`),t=[]),(t.length>0||i!=="")&&t.push(i);return t.length>0&&e.push(`${t.join(`
`).trimEnd()}
`),e.map((i,a)=>({note:i,source:e.length>1?`${o}, ${a+1}`:o}))}async function Ie(n,o,e){let[t,s]=[o.size,e.size];if(o.origin!==e.origin)throw new Error(`it is one of another log: ${o.origin}`);if(t>s)throw new Error(`the log had ${t} events and has ${s} now: events were removed`);let{consistency:i}=t===s?{consistency:[]}:await n.get("/log/consistency",{from:t,to:s});await me({from:o,to:e,hashes:ue(i,"the consistency proof")})}async function se(n,o,e,t){let s=[];for(let{note:i,source:a}of o){let l,c="";try{l=await O(i,t),await Ie(n,l,e)}catch(p){c=p instanceof Error?p.message:String(p)}s.push({source:a,size:l?.size,root:l?j(l.root):"",fault:c})}return s.sort((i,a)=>(i.size??0)-(a.size??0))}var Fe={time_stamp:"a time-stamp authority",webhook:"the webhook",bucket:"the bucket",directory:"the directory"};function ye(n,o){let e=Math.max(0,n.split(`
`).filter(s=>s.startsWith("— ")).length-1);return[e===0?"No witness has cosigned this checkpoint.":`Cosignatures of witnesses on this checkpoint: ${e}. audit-server log audit verifies them.`,...Ue(o)]}function Ue(n){let[o]=T(n,"audit_anchor_last_timestamp_seconds");if(!o)return["This address does not show the metrics of the server, so this page does not know whether the server makes anchors."];if(o.value===0)return["This server has made no anchor: a signed list of the heads of all logs, sent outside every hour."];let t=T(n,"audit_anchors_pending").filter(({value:i})=>i>0).map(({labels:i,value:a})=>`${Fe[/place="(\w+)"/.exec(i)?.[1]??""]??"a place"} lacks ${a}`);return[`The latest anchor is of ${new Date(o.value*1e3).toLocaleString()}. ${t.length===0?"All places have all anchors.":`Anchors not sent yet: ${t.join(", ")}.`}`]}var He=20,$e=new Intl.NumberFormat,F=class extends u{constructor(){super();this.seen=[];this.note="";this.key="";this.rotations="";this.metrics="";this.heading="The verifiable log";this.text="Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";this.checked={text:"",isGood:!1},this.history=[]}static{this.properties={checked:{state:!0},history:{state:!0}}}async load(){let{api:e}=this.session,t=this.note;[this.note,this.key,this.rotations,this.metrics]=await Promise.all([e.text("/log/checkpoint"),e.text("/log/key"),e.text("/log/key/rotations"),I()]);try{this.checkpoint=await O(this.note,this.key),this.checked={text:"The signature was verified in this browser, with the key below.",isGood:!0},await this.remember(t,this.checkpoint)}catch(s){this.checkpoint=void 0,this.checked={text:`The signature was not verified: ${s instanceof Error?s.message:String(s)}`,isGood:!1}}}async remember(e,t){let s=({note:l})=>l.startsWith(`${t.origin}
`),i={note:e,source:`read before ${new Date().toLocaleTimeString()}`},a=e&&e!==this.note?[...this.seen,i]:this.seen;this.seen=a.filter(s).slice(-He),this.history=await se(this.session.api,this.seen,t,this.key)}async compare(e){let t=e.target,{earlier:s="",key:i=""}=g(e),a=t.elements.namedItem("files").files??[];await this.attempt(async()=>{let l=await Promise.all(Array.from(a,async p=>te(await p.text(),p.name))),c=[...te(s,"entered"),...l.flat()];if(!this.checkpoint)throw new Error("The present checkpoint is not verified.");if(c.length===0)throw new Error("Enter a checkpoint, or choose files that have some.");if(c.length>ee)throw new Error(`There are ${c.length} checkpoints; at most ${ee} are verified at once.`);this.history=await se(this.session.api,[...c,...this.seen],this.checkpoint,i||this.key)})}async evidence(){await this.attempt(async()=>{let t=await(await this.session.api.fetch("GET","/events/export")).blob();C(t,"events.jsonl"),C(new Blob([this.note],{type:"text/plain"}),"checkpoint.txt"),C(new Blob([this.key],{type:"text/plain"}),"key.txt")},"Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.")}content(){let{checkpoint:e,checked:t}=this;return r`
${(({text:i,isGood:a})=>r`<div class="notice ${a?"good":"bad"}" role=${a?"status":"alert"}>${a?"✓":"✗"} ${i}</div>`)(t)}
${e?r`<div class="cards">
            <div class="card"><b>${$e.format(e.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${j(e.root)}</code><br />Log <code>${e.origin}</code></p>`:d}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim()?r`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>`:d}
      <div class="bar"><button @click=${()=>this.reload()}>Read again</button><button @click=${()=>this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>History</h3>
      <p class="muted">The present checkpoint continues an earlier one if no event before it was changed, removed or inserted. Verify those that you have stored:
        a file may have several. This server keeps the latest checkpoint only, because earlier ones prove something only where nobody who can change the log can
        change them.</p>
      <ul>${ye(this.note,this.metrics).map(i=>r`<li>${i}</li>`)}</ul>
      ${this.historyTable()}
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoints<textarea name="earlier" rows="6" spellcheck="false"></textarea></label>
        <label>Files<input name="files" type="file" multiple /></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
    `}historyTable(){let e=this.history.map(({source:t,size:s,root:i,fault:a})=>r`<tr>
<td>${s===void 0?"–":$e.format(s)}</td><td><code>${i.slice(0,16)}</code></td><td>${t}</td>
<td>${a?r`<div class="notice bad" role="alert">✗ ${a}</div>`:r`<div class="notice good">✓ continued by the present checkpoint</div>`}</td>
    </tr>`);return this.table(["Events","Root","From","Outcome"],e,"No earlier checkpoint yet.")}};var ie=30,qe=20,x=new Intl.NumberFormat,Be=[{metric:"audit_webhook_deliveries_pending",label:"deliveries pending, all projects",href:"#/webhooks"},{metric:"audit_store_queue_depth",label:"requests in the write queue"},{metric:"audit_index_backlog_events",label:"events not yet indexed"},{metric:"audit_store_events_to_rebuild",label:"events to index again"},{metric:"audit_database_bytes",label:"database",isBytes:!0},{metric:"audit_database_index_bytes",label:"index, part of the database",isBytes:!0},{metric:"audit_database_wal_bytes",label:"write-ahead log",isBytes:!0}];function We({events_today:{count:n,max:o}}){return o===null?x.format(n):`${x.format(n)} of ${x.format(o)}`}var U=class extends u{constructor(){super(...arguments);this.heading="Overview";this.text=`The last ${ie} days of this project, and the state of the server.`;this.readiness="";this.metrics="";this.formats=new he(navigator.language,Q,!1)}static{this.properties={}}static{this.styles=[u.styles,$`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`]}async load(){let{api:e}=this.session,t=new Date(Date.now()-ie*864e5).toISOString(),[s,i,a,l,c,p]=await Promise.all([k(ge(e,{start_date:t,interval:"day"},this.formats.zone)),k(e.get("/alerts",{status:"open",limit:qe})),k(e.text("/log/checkpoint")),k(e.get("/usage")),fetch("/readyz",{cache:"no-store"}).then(h=>h.ok,()=>!1),I()]);this.summary=s,this.usage=l?.usage,this.openAlerts=i&&`${i.alerts.length}${i.has_more?"+":""}`,this.logSize=a===void 0?void 0:Number(a.split(`
`)[1]),this.readiness=c?"ready":"not ready",this.metrics=p}gauges(){return Be.flatMap(({metric:e,label:t,href:s,isBytes:i})=>{let[a]=T(this.metrics,e);return a?[this.card(t,i?this.formats.bytes(a.value):a.value,s)]:[]})}card(e,t,s){if(t===void 0)return d;let i=s?r`<a href=${s}>${e}</a>`:r`<span class="muted">${e}</span>`;return r`<div class="card"><b>${typeof t=="number"?x.format(t):t}</b>${i}</div>`}content(){let{summary:e}=this,t=_.map(s=>[s,e?.buckets.reduce((i,a)=>i+(a.categories?.[s]??0),0)??0]);return r`
<div class="cards">
${this.card(`events in ${ie} days`,e?.total,"#/events")} ${this.card("events in the log",this.logSize,"#/log")}
        ${this.card("open alerts",this.openAlerts,"#/alerts")} ${this.card("server",this.readiness)}
        ${this.usage?this.card("live events today",We(this.usage),"#/usage"):d} ${this.gauges()}
      </div>
      ${e?r`<h3>Events per day</h3>
<div class="chart"><audit-log-histogram .summary=${e} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
<h3>By category</h3>
<div class="cards">${t.map(([s,i])=>this.card(Q.categories[s]??s,i,`#/events?category=${s}`))}</div>
            ${this.top("Most frequent actions","action",e)} ${this.top("Most active actors","actor_id",e)}
            ${this.top("Tenants","tenant_id",e)}`:d}
    `}onZoom(e){location.hash=`#/events?${new URLSearchParams({start_date:e.detail.start,end_date:e.detail.end})}`}top(e,t,{top:s}){let i=(s[t]??[]).slice(0,8).map(({value:a,count:l})=>r`<tr><td><a href="#/events?${new URLSearchParams({[t]:a})}">${w(a)}</a></td><td>${x.format(l)}</td></tr>`);return r`<h3>${e}</h3><p class="muted">Among the newest ${x.format(s.looked_at)} events.</p>${this.table(["Value","Events"],i,"None.")}`}};var we=65536,ze=3600,H=class extends u{constructor(){super();this.heading="Portal";this.text="The portal shows the customers of this project their own events, under this name and logo.";this.look={name:null,logo:null}}static{this.properties={look:{state:!0}}}static{this.styles=[u.styles,$`.look { display: flex; align-items: center; gap: 12px; margin: 12px 0; } .look img { max-height: 48px; max-width: 200px; }`]}async load(){this.look=await ce(this.session.api)}store(e,t){return this.change(()=>this.session.api.send("PATCH","/portal",e),t)}async onLogo(e){let t=e.target,s=t.files?.[0];if(!s)return;let i=await Ke(s);await this.attempt(()=>{if(s.size>we)throw new Error(`The file has ${s.size} bytes; at most ${we} are possible.`);if(!de(i))throw new Error("The logo must be a PNG, JPEG or WebP image.");return Promise.resolve()}),this.failure||await this.store({logo:i},"The logo was stored."),t.value=""}async link(e){let{tenant_id:t="",tier:s=""}=g(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:ze,portal:!0},{portal_url:a}=await this.session.api.send("POST","/viewer-tokens",i);this.reveal(`The portal of ${t}, for an hour`,a)})}content(){let{look:e}=this,{isMaster:t}=this.session;return r`${this.masterOnly()}
<div class="look">${e.logo?r`<img src=${e.logo} alt="Logo" />`:r`<span class="muted">no logo</span>`}<b>${e.name??"Audit log"}</b></div>
      ${t?r`<form class="inline" @submit=${s=>this.store({name:g(s).name??null},"The name was stored.")}>
<label class="wide">Name (empty: “Audit log”)<input name="name" maxlength="100" .value=${e.name??""} /></label>
<button class="primary">Store name</button>
</form>
<form class="inline" @submit=${s=>s.preventDefault()}>
<label class="wide">Logo: PNG, JPEG or WebP, at most 64 KiB<input type="file" accept="image/png,image/jpeg,image/webp" @change=${this.onLogo} /></label>
${e.logo?r`<button @click=${()=>this.store({logo:null},"The logo was removed.")}>Remove logo</button>`:d}
            </form>
            <p class="muted">Links to the portal are made with a live project key.</p>`:r`<h3>Link to the portal</h3>
<p>Whoever has the link can read the events of the tenant for an hour.</p>
<form class="inline" @submit=${this.link}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">Create link</button>
</form>`}`}};function Ke(n){return new Promise((o,e)=>{let t=new FileReader;t.onload=()=>o(String(t.result)),t.onerror=()=>e(t.error??new Error("the file cannot be read")),t.readAsDataURL(n)})}var ke=["replace","hash","mask"],Ve=300,Ge={action:"user.created",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe",email:"jane@example.com"},metadata:{note:"paid with 4111 1111 1111 1111, call +1 415 555 0132",header:"Bearer abcdef123456",ok:"fine"}},q=class extends u{constructor(){super();this.event=J(Ge);this.heading="Redaction";this.text="Rules remove personal data and secrets before an event is stored. A change applies to the next request; stored events do not change.";this.rules=[],this.fault="",this.type="pattern"}static{this.properties={rules:{state:!0},tested:{state:!0},fault:{state:!0},type:{state:!0}}}async load(){this.rules=(await this.session.api.get("/redaction/rules")).rules,await this.test()}onInput(e){this.event=e.target.value,clearTimeout(this.typing),this.typing=setTimeout(()=>{this.test()},Ve)}async test(){let e;try{e=JSON.parse(this.event)}catch(t){this.fault=t instanceof Error?t.message:"not JSON";return}this.fault="",await this.attempt(async()=>{this.tested=await this.session.api.send("POST","/redaction/test",{event:e})})}amend(e,t){this.change(()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,t),`${e.name}: changed.`)}toggle(e,t){if(t.checked)return this.amend(e,{enabled:!0});t.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:"From the next request on, what this rule finds is stored as it was sent, and it cannot be removed from the log later.",run:()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"From the next request on, what this rule finds is stored as it was sent. The rule cannot be restored.",run:()=>this.session.api.send("DELETE",`/redaction/rules/${e.id}`)})}async onSubmit(e){let t=e.target,{fields:s,...i}=g(e),a=i.type==="field_redact"?{...i,fields:y(s)}:i;await this.change(()=>this.session.api.send("POST","/redaction/rules",a),`${i.name??""}: created.`)&&t.reset()}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>r`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.toggle(s,i.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?r`<span class="badge">built-in</span>`:d}</th>
      <td><code>${s.pattern??s.fields?.join(", ")??""}</code></td>
      <td><select aria-label="Behavior of ${s.name}" ?disabled=${!e} @change=${i=>this.amend(s,{behavior:i.target.value})}>
        ${ke.map(i=>r`<option .selected=${i===s.behavior}>${i}</option>`)}</select></td>
      <td class="actions">${e&&s.type!=="builtin"?r`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:d}</td>
    </tr>`);return r`${this.masterOnly()} ${this.tester()}
<h3>Rules</h3>${this.table(["On","Rule","Finds","Behavior",""],t,"No rules.")} ${e?this.form():d}`}tester(){let{tested:e}=this;return r`<h3>Try an event</h3>
<div class="columns">
<label>Event (nothing is stored)<textarea rows="14" spellcheck="false" maxlength="65536" .value=${this.event} @input=${this.onInput}></textarea></label>
<div>
<span class="muted">What the rules change: <mark>removed</mark> → <mark class="after">stored</mark></span>
${this.fault?r`<p class="notice bad">${this.fault}</p>`:d}
          ${e?.metadata.was_redacted?r`<div class="scroll"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Sent</th><th scope="col">Stored</th></tr></thead>
<tbody>${Te(e.original,e.redacted).map(([t,s,i])=>r`<tr><th scope="row"><code>${t}</code></th><td>${_e(s,i,"removed")}</td><td>${_e(i,s,"after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${e.metadata.redacted_rules.join(", ")} · ${e.metadata.rules_evaluated} rules</p>`:e?r`<p>Nothing is removed from this event.</p>`:d}
        </div>
      </div>`}form(){return r`<h3>New rule</h3>
<form class="inline" @submit=${this.onSubmit}>
<label>Type<select name="type" @change=${e=>this.type=e.target.value}>
<option value="pattern">pattern</option><option value="field_redact">fields</option></select></label>
<label>Name<input name="name" required maxlength="100" /></label>
${this.type==="pattern"?r`<label class="wide">Pattern (regular expression)<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`:r`<label class="wide">Paths, separated by commas<input name="fields" required placeholder="**.ssn, actor.email" spellcheck="false" /></label>`}
        <label>Behavior<select name="behavior">${ke.map(e=>r`<option>${e}</option>`)}</select></label>
        <button class="primary">Create rule</button>
      </form>`}};function Te(n,o,e=""){let t=a=>typeof a=="object"&&a!==null&&!Array.isArray(a);if(!t(n)||!t(o))return[[e,xe(n),xe(o)]];let s=[...new Set([...Object.keys(n),...Object.keys(o)])],i=(a,l)=>Object.hasOwn(a,l)?a[l]:void 0;return s.flatMap(a=>Te(i(n,a),i(o,a),e?`${e}.${a}`:a))}function xe(n){return n===void 0?"":typeof n=="string"?n:J(n)}function _e(n,o,e){let t=0;for(;t<n.length&&n[t]===o[t];)t+=1;let s=0;for(;s<n.length-t&&s<o.length-t&&n.at(-1-s)===o.at(-1-s);)s+=1;let i=n.slice(t,n.length-s);return r`${n.slice(0,t)}${i?r`<mark class=${e}>${i}</mark>`:d}${n.slice(n.length-s)}`}var B=class extends u{constructor(){super(...arguments);this.heading="Streams";this.text="A client without an account sends events to a stream, which its token names. A claim moves them into this project."}static{this.properties={info:{state:!0},token:{state:!0}}}load(){return Promise.resolve()}async look(e){this.token=g(e).token??"",this.info=void 0,await this.attempt(async()=>{this.info=await this.session.api.get(`/streams/${encodeURIComponent(this.token)}/info`)})}claim(){let{token:e}=this;this.ask({title:"Claim the stream",verb:"Claim",text:`Its ${this.info?.event_count??0} events move into the project ${this.session.project?.name??""}, redacted by its rules. The token can never be used again.`,run:async()=>{await this.session.api.send("POST","/streams/claim",{claim_token:e}),this.info=void 0}})}content(){if(!this.session.isMaster)return r`<p class="notice">Claiming needs a master key.</p>`;let{info:e}=this;return r`<form class="inline" @submit=${this.look}>
<label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
<button class="primary">Look up</button>
</form>
${e?r`<p>${e.event_count} events, ${e.status}, created ${v(e.created_at)}, ends ${v(e.expires_at)}</p>
            <button class="primary" ?disabled=${e.status!=="active"} @click=${()=>this.claim()}>Claim into this project</button>`:""}`}};var Se=["event","summary","feed","export","proofs"],Je=600,W=class extends u{constructor(){super();this.heading="Viewer tiers";this.text="A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";this.tiers=[]}static{this.properties={tiers:{state:!0},draft:{state:!0},seen:{state:!0}}}async load(){this.session.isMaster&&(this.tiers=(await this.session.api.get("/viewer-tiers")).viewer_tiers)}async onSubmit(e){let t=e.target,s=g(e),i=new FormData(t),a=(b,m)=>i.getAll(b).length===m.length?null:i.getAll(b),l=y(s.actions),c={categories:a("categories",_),actions:l.length>0?l:null,hidden_fields:y(s.hidden_fields),...i.getAll("routes").length===Se.length?{}:{routes:i.getAll("routes")}},{api:p}=this.session,{draft:h}=this,f=()=>h?p.send("PATCH",`/viewer-tiers/${h.name}`,c):p.send("POST","/viewer-tiers",{name:s.name,...c});await this.change(f,"The tier was stored.")&&(this.draft=void 0)}confirmRemoval(e){this.ask({title:`Delete the tier “${e.name}”`,verb:"Delete",typed:e.name,text:"All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/viewer-tiers/${e.name}`)})}async see(e){let{tenant_id:t="",tier:s=""}=g(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:Je},{token:a}=await this.session.api.send("POST","/viewer-tokens",i);this.seen={token:a,tenant:t,tier:s||"standard"}})}content(){return r`${this.session.isMaster?this.administration():this.lookAs()}`}lookAs(){return r`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
<form class="inline" @submit=${this.see}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">See as this tenant</button>
</form>
${this.seen?r`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`:d}`}administration(){let e=(s,i)=>s===null?i:s.length>0?s.join(", "):"none",t=this.tiers.map(s=>r`<tr>
<th scope="row">${s.name}</th><td>${e(s.categories,"all")}</td><td>${e(s.actions,"all")}</td>
<td>${e(s.hidden_fields,"")}</td><td>${e(s.routes,"all")}</td>
<td class="actions"><button @click=${()=>this.draft=s}>Edit</button> <button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button></td>
</tr>`);return r`${this.table(["Tier","Categories","Actions","Hidden fields","Reads",""],t,"No tiers.")} ${this.form()}
<p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`}form(){let{draft:e}=this,t=(s,i,a)=>r`<fieldset><legend>${i}</legend>
${a.map(l=>r`<label class="check"><input type="checkbox" name=${s} value=${l} .checked=${e?.[s]?.includes(l)??!0} />${l}</label>`)}
    </fieldset>`;return r`<h3>${e?`Edit ${e.name}`:"New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${e?d:r`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${e?.hidden_fields.join(", ")??""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${e?.actions?.join(", ")??""} placeholder="auth.*, document.*" /></label>
        ${t("categories","Categories",_)} ${t("routes","Reads",Se)}
        <button class="primary">${e?"Store changes":"Create tier"}</button>
        ${e?r`<button type="button" class="plain" @click=${()=>this.draft=void 0}>Cancel</button>`:d}
      </form>`}};var z=new Intl.NumberFormat,Qe={free:"Free",pro:"Pro",enterprise:"Enterprise"},K=class extends u{constructor(){super(...arguments);this.heading="Usage and plan";this.text="The limits of the plan and of the service, and how far this project uses them. The operator changes the plan with audit-server org plan."}static{this.properties={usage:{state:!0}}}async load(){this.usage=(await this.session.api.get("/usage")).usage}row(e,{count:t,max:s},i=d){let a=s===null?"":s===0?"not in this plan":`${Math.round(100*t/s)} %`;return r`<tr>
<th scope="row">${e} ${i}</th><td>${z.format(t)}</td><td>${s===null?"no limit":z.format(s)}</td>
<td>${s?r`<meter min="0" max=${s} high=${s*.9} value=${Math.min(t,s)} aria-label=${`${e}: ${a}`}></meter> `:d}${a}</td>
    </tr>`}content(){let{usage:e}=this;if(!e)return r``;let t=[this.row("Live events today",e.events_today,r`<span class="muted">until ${v(e.day_ends_at)}</span>`),this.row("Keys of the project",e.keys),this.row("Custom redaction rules",e.redaction_rules),this.row("Custom alert rules",e.alert_rules),this.row("Webhooks",e.webhooks),this.row("Viewer tiers",e.viewer_tiers)];return r`<div class="cards">
<div class="card"><b>${Qe[e.plan]??e.plan}</b><span class="muted">plan</span></div>
<div class="card"><b>${z.format(e.events.live)}</b><span class="muted">live events stored</span></div>
<div class="card"><b>${z.format(e.events.test)}</b><span class="muted">test events stored</span></div>
</div>
${this.table(["","Used","Limit","Share"],t,"")}`}};var V=class extends u{constructor(){super();this.cursor=null;this.heading="Webhooks";this.text="Each live alert is sent to every enabled webhook as a signed message, with retries.";this.webhooks=[],this.deliveries=[]}static{this.properties={webhooks:{state:!0},opened:{state:!0},deliveries:{state:!0}}}async load(){this.session.isMaster&&(this.webhooks=(await this.session.api.get("/alerts/webhooks")).webhooks,this.opened=this.webhooks.find(({id:e})=>e===this.opened?.id),this.opened&&await this.readDeliveries(this.opened))}async readDeliveries(e,t){let s=await this.session.api.get(`/alerts/webhooks/${e.id}/deliveries`,{cursor:t});this.deliveries=t?[...this.deliveries,...s.deliveries]:s.deliveries,this.cursor=s.cursor,this.opened=e}async onSubmit(e){let t=e.target,s=g(e),i=async()=>{let{webhook:a}=await this.session.api.send("POST","/alerts/webhooks",s);this.reveal("Secret of the new webhook",a.secret)};await this.change(i,"The webhook was created.")&&t.reset()}rotate(e){this.ask({title:"Rotate the secret",verb:"Rotate",text:`A new secret signs messages to ${e.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,run:async()=>{let t=await this.session.api.send("POST",`/alerts/webhooks/${e.id}/rotate-secret`);this.reveal("New secret of the webhook",t.webhook.secret)}})}confirmRemoval(e){this.ask({title:"Delete the webhook",verb:"Delete",text:`Nothing more is sent to ${e.url}. Its deliveries, pending ones included, are deleted too.`,run:()=>this.session.api.send("DELETE",`/alerts/webhooks/${e.id}`)})}toggle(e){let{enabled:t}=e;this.change(()=>this.session.api.send("PATCH",`/alerts/webhooks/${e.id}`,{enabled:!t}),t?"Disabled. Pending deliveries wait.":"Enabled.")}test(e){this.change(async()=>{await this.session.api.send("POST",`/alerts/webhooks/${e.id}/test`),this.opened=e},"A test message is queued. Refresh the deliveries to see its result.")}content(){if(!this.session.isMaster)return r`<p class="notice">Webhooks need a master key.</p>`;let e=this.webhooks.map(t=>r`<tr>
<td><span class="badge ${t.enabled?"on":""}">${t.enabled?"enabled":"disabled"}</span></td>
<th scope="row">${t.url}</th>
<td>${v(t.created_at)}</td>
<td class="actions">
<button @click=${()=>this.attempt(()=>this.readDeliveries(t))}>Deliveries</button>
<button ?disabled=${!t.enabled} @click=${()=>this.test(t)}>Test</button>
<button @click=${()=>this.toggle(t)}>${t.enabled?"Disable":"Enable"}</button>
<button @click=${()=>this.rotate(t)}>Rotate secret</button>
<button class="danger" @click=${()=>this.confirmRemoval(t)}>Delete</button>
</td>
</tr>`);return r`${this.table(["State","URL","Created",""],e,"No webhooks yet.")}
<form class="inline" @submit=${this.onSubmit}>
<label class="wide">New webhook: URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
<button class="primary">Create webhook</button>
</form>
${this.opened?this.deliveryTable(this.opened):d}`}deliveryTable(e){let t=a=>{this.change(()=>this.session.api.send("POST",`/alerts/deliveries/${a.id}/retry`),"An attempt is made now.")},s=({number:a,status_code:l,error:c,duration_ms:p,started_at:h})=>r`<div title=${h}>${a}. ${l??c??"–"} <span class="muted">${p} ms</span></div>`,i=this.deliveries.map(a=>r`<tr>
<td><span class="badge ${a.status}">${a.status}</span></td>
<th scope="row">${a.type}</th>
<td>${v(a.created_at)}</td>
<td>${a.attempts.length>0?a.attempts.map(s):"none yet"}</td>
<td>${v(a.next_attempt_at)}</td>
<td class="actions"><button @click=${()=>t(a)}>Retry</button></td>
</tr>`);return r`<h3>Deliveries to ${e.url}</h3>
<div class="bar"><button @click=${()=>this.attempt(()=>this.readDeliveries(e))}>Refresh</button></div>
${this.table(["Status","Message","Created","Attempts","Next attempt",""],i,"Nothing was sent yet.")}
${this.cursor?r`<p><button @click=${()=>this.attempt(()=>this.readDeliveries(e,this.cursor??void 0))}>Show older deliveries</button></p>`:d}`}};var S=class n{constructor(o,e,t,s,i){this.key=o;this.projects=e;this.project=t;this.environment=s;this.onEnded=i;this.api=new E({baseUrl:"",credential:o,projectId:t?.id,environment:s})}get isMaster(){return this.key.startsWith("mk_")}with(o){let{projects:e,project:t,environment:s}={...this,...o};return new n(this.key,e,t,s,this.onEnded)}};var G=[{path:"overview",label:"Overview",content:n=>r`<console-overview .session=${n}></console-overview>`},{path:"events",label:"Events",content:Xe},{path:"alerts",label:"Alerts",content:n=>r`<console-alerts .session=${n} .wanted=${ne().alert}></console-alerts>`},{path:"rules",label:"Alert rules",content:n=>r`<console-rules .session=${n}></console-rules>`},{path:"webhooks",label:"Webhooks",content:n=>r`<console-webhooks .session=${n}></console-webhooks>`},{path:"redaction",label:"Redaction",content:n=>r`<console-redaction .session=${n}></console-redaction>`},{path:"tiers",label:"Viewer tiers",content:n=>r`<console-tiers .session=${n}></console-tiers>`},{path:"portal",label:"Portal",content:n=>r`<console-portal .session=${n}></console-portal>`},{path:"keys",label:"Projects and keys",content:n=>r`<console-keys .session=${n}></console-keys>`},{path:"streams",label:"Streams",content:n=>r`<console-streams .session=${n}></console-streams>`},{path:"usage",label:"Usage and plan",content:n=>r`<console-usage .session=${n}></console-usage>`},{path:"log",label:"Verifiable log",content:n=>r`<console-log .session=${n}></console-log>`}];function ne(){let[n,o=""]=location.hash.split("?"),e=new URLSearchParams(o),t=e.get("alert")??"";return n!=="#/alerts"||!/^alt_[0-9A-Z]{26}$/.test(t)?{}:{alert:t,project:e.get("project")??"",environment:e.get("environment")==="test"?"test":"live"}}function Xe(n){let[,o=""]=location.hash.split("?"),{filter:e,event:t}=pe(o),{key:s,project:i,environment:a}=n;return r`<audit-log-viewer lang="en" .token=${s} .projectId=${i?.id} .environment=${a} .filter=${Ye(e)} .wanted=${t}></audit-log-viewer>`}var re={};function Ye(n){return JSON.stringify(n)!==JSON.stringify(re)&&(re=n),re}var oe=class extends P{static{this.properties={session:{state:!0},failure:{state:!0},path:{state:!0},isBusy:{state:!0}}}static{this.styles=[R,ae,$`
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
`]}constructor(){super(),this.path=this.pathOfHash(),this.isBusy=!1,addEventListener("hashchange",()=>{this.path=this.pathOfHash(),this.followLink(),this.requestUpdate()})}pathOfHash(){let o=location.hash.replace(/^#\//,"").split("?")[0]??"";return G.some(e=>e.path===o)?o:"overview"}async signIn(o){o.preventDefault();let e=o.target.elements.namedItem("key"),t=e.value.trim();e.value="",this.isBusy=!0,this.failure=void 0;try{this.session=await this.open(t)}catch(s){this.failure=A(s)}finally{this.isBusy=!1}}async open(o){let e=new E({baseUrl:"",credential:o}),t=c=>{this.session=void 0,this.failure=c};if(!o.startsWith("mk_")){let p=(await k(e.get("/keys")))?.keys[0]?.project_id,h=p===void 0?void 0:{id:p,name:"",created_at:""};return new S(o,[],h,o.startsWith("pk_test_")?"test":"live",t)}let s=(await k(e.get("/projects",{archived:"all"})))?.projects??[],i=s.find(({archived_at:c})=>!c)??s[0],a=ne(),l=s.find(({id:c})=>c===a.project)??i;return new S(o,s,l,a.environment??"live",t)}followLink(){let{session:o}=this,{project:e,environment:t}=ne();if(!o?.isMaster||t===void 0)return;let s=o.projects.find(i=>i.id===e)??o.project;s?.id===o.project?.id&&t===o.environment||(this.session=o.with({project:s,environment:t}))}onProject(o){let e=o.target.value;this.session=this.session?.with({project:this.session.projects.find(t=>t.id===e)})}onCreated(o){let{session:e}=this;e&&(this.session=e.with({projects:[...e.projects,o.detail],project:o.detail}))}onChanged({detail:o}){let{session:e}=this;if(!e)return;let t=e.projects.map(s=>s.id===o.id?o:s);this.session=e.with({projects:t,project:t.find(({id:s})=>s===e.project?.id)})}render(){return this.session?this.workspace(this.session):this.signInForm()}signInForm(){let{failure:o}=this;return r`<form class="sign-in" @submit=${this.signIn}>
<h1>Audit log console</h1>
<p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
${o?r`<p class="notice bad" role="alert">${o.message}</p>`:d}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy?"Signing in …":"Sign in"}</button>
    </form>`}workspace(o){let e=G.find(({path:l})=>l===this.path)??G[0];document.title=`${e?.label??""} · Audit log`;let{isMaster:t,projects:s,project:i,environment:a}=o;return r`
<header class="bar">
<h1><a href="#/overview">Audit log</a></h1>
${a==="test"?r`<span class="test">test environment</span>`:d}
        ${t?r`<select aria-label="Project" @change=${this.onProject}>${s.map(({id:l,name:c,archived_at:p})=>r`<option value=${l} .selected=${l===i?.id}>${c}${p?" (archived)":""}</option>`)}</select>
              <select aria-label="Environment" @change=${l=>this.session=o.with({environment:l.target.value})}>
                ${["live","test"].map(l=>r`<option .selected=${l===a}>${l}</option>`)}
              </select>`:r`<span class="muted">project key</span>`}
        <button @click=${()=>this.session=void 0}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${G.map(({path:l,label:c})=>r`<a href="#/${l}" aria-current=${l===e?.path?"page":d}>${c}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated} @project-changed=${this.onChanged}>${e?.content(o)}</div>
      </div>
    `}};ve();var Ze=[["console-overview",U],["console-alerts",L],["console-rules",N],["console-webhooks",V],["console-redaction",q],["console-tiers",W],["console-keys",M],["console-streams",B],["console-portal",H],["console-usage",K],["console-log",F],["console-page",oe]];for(let[n,o]of Ze)customElements.define(n,o);document.querySelector("#app")?.append(document.createElement("console-page"));
