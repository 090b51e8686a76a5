import{A as Je,B as Ge,C as Xe,D as X,E as v,F as $,G as P,H as we,I as ke,a as g,b as O,c as Fe,d as F,e as S,f as A,g as j,h as y,i as Ue,j as He,k as Be,l as z,m as We,n as U,p as Ke,q as V,r as J,s as ze,t as Ve,u as G,v as D,w as M,x as ye}from"./shared-MOKFRY6M.js";import{a as k,b as n,e as d,g as I,h as q,i as Me}from"./shared-PL53VPD7.js";var jt=["alert","delivery","destination","erasure","event","rule","tier","webhook"];function C(r=location.hash){let[,o="",e=""]=/^#\/([^?]*)\??(.*)$/s.exec(r)??[],t=new URLSearchParams(e),[s,i]=[t.get("project"),t.get("environment")];return t.delete("project"),t.delete("environment"),{path:o||"overview",project:s??void 0,environment:i==="live"||i==="test"?i:void 0,query:t.toString()}}function _(r,o,{project:e,environment:t}){let s=new URLSearchParams(o);return e&&s.set("project",e.id),s.set("environment",t),`#/${r}?${s}`}function Y(r,o){let e=new URLSearchParams(r);for(let[t,s]of Object.entries(o))s?e.set(t,s):e.delete(t);return e.toString()}var Ye=r=>Y(r,Object.fromEntries(jt.map(o=>[o,void 0])));function Dt(r,o){let[e="",...t]=r.split("*");if(t.length===0)return r===o;if(!o.startsWith(e))return!1;let s=e.length,i=t.pop()??"";for(let a of t){let l=o.indexOf(a,s);if(l<0)return!1;s=l+a.length}return o.length-i.length>=s&&o.endsWith(i)}var Ct=["failure","denied"];function Nt(r){let o=`http://[${r}]/`;if(!/^[0-9A-Fa-f:.]+$/.test(r)||!URL.canParse(o))return r;let e=new URL(o).hostname.slice(1,-1),t=/^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(e);return t?t.slice(1).map(s=>`${parseInt(s,16)>>8}.${parseInt(s,16)&255}`).join("."):e}var Lt=r=>r?Nt(r):void 0,Q={actor_id:r=>r.actor?.id,tenant_id:r=>r.tenant_id,ip_address:r=>Lt(r.context?.ip_address),session_id:r=>r.context?.session_id??void 0,target_id:r=>r.target?.id},It={actor_id:r=>r.actor?.name,target_id:r=>r.target?.name};function qt(r,o){let{action:e,actor:t,category:s,outcome:i}=o,a=(p=[])=>p.some(h=>Dt(h,e??"")),l=Ct.includes(i)&&a(r.failed_action_patterns);if(!e||!(a([r.action_pattern,...r.further_action_patterns??[]])||l))return!1;let c=(p,h)=>!p?.length||p.includes(h??"");return c(r.actor_types,t?.type)&&c(r.categories,s)&&c(r.outcomes,i)&&!r.not_actor_ids?.includes(t?.id??"")}function Mt(r,o){let e=[...r].sort((i,a)=>i.received_at<a.received_at?-1:1),t=new Map,s={lookedAt:r.length,matching:0,alerts:[]};for(let i of e){if(!qt(o,i))continue;let a=Q[o.group_by]?.(i),l=o.count_distinct?Q[o.count_distinct]?.(i):i.id;if(a===void 0||l===void 0)continue;s.matching+=1;let c=`${i.tenant_id}
${a}`,p=Date.parse(i.occurred_at),h=t.get(c)??{counted:new Map,quietUntil:-1/0};t.set(c,h);for(let[f,b]of h.counted)b<p-o.window_seconds*1e3&&h.counted.delete(f);h.counted.set(l,Math.max(p,h.counted.get(l)??p)),!(h.counted.size<o.threshold||p<h.quietUntil)&&(s.alerts.unshift({group:a,name:It[o.group_by]?.(i)??"",at:i.occurred_at,count:h.counted.size}),h.quietUntil=p+o.cooldown_seconds*1e3,h.counted.clear())}return s}async function Qe(r,o){let t=!o.further_action_patterns?.length&&!o.failed_action_patterns?.length?o.action_pattern.split("*")[0]??"":"",s=t===""?void 0:o.action_pattern===t?t:`${t}*`,i=[],a;do{let l=await r.get("/events",{action:s,limit:200,cursor:a});i.push(...l.events),a=l.cursor??void 0}while(a&&i.length<2e3);return Mt(i.slice(0,2e3),o)}var Ft=new Intl.DateTimeFormat(void 0,{dateStyle:"medium",timeStyle:"medium"});function u(r){return r?n`<time datetime=${r} title=${r}>${Ft.format(new Date(r))}</time>`:"–"}function R({id:r,name:o}){return o?n`${g(o)} <span class="muted">${g(r??"")}</span>`:n`${g(r??"–")}`}var m=class extends I{constructor(){super();this.attempts=0;this.arrival="";this.loading=new AbortController;this.query="",this.notice="",this.typed="",this.copied="",this.isBusy=!1,this.isLoaded=!1}static{this.properties={session:{attribute:!1},query:{attribute:!1},failure:{state:!0},notice:{state:!0},question:{state:!0},secret:{state:!0},copied:{state:!0},typed:{state:!0},isBusy:{state:!0},isLoaded:{state:!0}}}static{this.styles=[q,k`
:host { display: block; padding: 16px 20px 40px; overflow: auto; min-height: 0; }
h2 { margin: 0 0 2px; font-size: 1.35em; } h3 { margin: 22px 0 8px; font-size: 1.05em; }
p { margin: 4px 0 10px; max-width: 80ch; } code { overflow-wrap: anywhere; }
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid color-mix(in srgb, var(--border) 60%, transparent); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; font-weight: 600; white-space: nowrap; }
td { overflow-wrap: anywhere; min-width: 60px; } td.actions { white-space: nowrap; text-align: end; } time { white-space: nowrap; }
tbody th { font-weight: 500; min-width: 96px; } td.wide { min-width: 136px; }
.facts th { width: 1%; white-space: nowrap; vertical-align: top; }
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
`]}willUpdate(e){e.has("session")?this.reload():e.has("query")&&(this.loadNewest(this.arrival),this.arrival="")}disconnectedCallback(){super.disconnectedCallback(),this.loading.abort()}named(e){return new URLSearchParams(this.query).get(e)??""}idOf(e,t){let s=this.named(e);return new RegExp(`^${t}_[0-9A-Z]{26}$`).test(s)?s:void 0}apiUntil(e){return new S(this.session.api.connection,e)}go(e,t=""){let s=this.hrefOf(e);s!==location.hash&&(this.arrival=t,location.hash=s)}hrefOf(e){return _(C().path,Y(this.query,e),this.session)}linkTo(e,t){return _(e,Y("",t),this.session)}async reload(){this.isLoaded=!1,await this.loadNewest()}async loadNewest(e=""){this.loading.abort();let{signal:t}=this.loading=new AbortController;await this.attempt(()=>this.load(this.apiUntil(t),t),e),t.aborted||(this.isLoaded=!0)}async attempt(e,t=""){this.attempts+=1,this.isBusy=!0,this.failure=void 0,this.notice="";try{return await e(),this.notice=t,!0}catch(s){return A(s)||(this.failure=j(s),this.failure.kind==="expired"&&this.session.onEnded(this.failure)),!1}finally{this.attempts-=1,this.isBusy=this.attempts>0,this.requestUpdate()}}async change(e,t=""){return await this.attempt(e)?(await this.loadNewest(),this.failure||(this.notice=t),!0):!1}ask(e){this.typed=e.name??e.list?.items.join(`
`)??"",this.question=e,this.showDialog()}reveal(e,t){this.secret={title:e,value:t},this.copied="",this.showDialog()}async showDialog(){await this.updateComplete;let e=this.renderRoot.querySelector("dialog");e&&!e.open&&e.showModal()}closeDialog(){this.question=void 0,this.secret=void 0}render(){let{failure:e}=this;return n`
<h2>${this.heading}</h2>
<p class="muted">${this.text}</p>
${e?n`<div class="notice bad" role="alert">
            <b>${e.message}</b>
            ${e.details.map(({field:t,message:s})=>n`<span><code>${t}</code> ${s}</span>`)}
            ${e.requestId?n`<span class="mono">${e.requestId}</span>`:d}
            <button @click=${()=>this.reload()}>Try again</button>
          </div>`:d}
      <div role="status">${this.notice?n`<div class="notice good">${this.notice}</div>`:d}</div>
      ${this.isLoaded?this.content():this.waiting()} ${this.question?this.questionDialog(this.question):d}
      ${this.secret?this.secretDialog(this.secret):d}
    `}waiting(){return n`<p class="spinner">Loading …</p>`}questionDialog({title:e,text:t,verb:s,typed:i,name:a,list:l,run:c}){let p=async b=>{b.preventDefault();let E=this.typed.trim();this.closeDialog(),await this.change(()=>c(E),`${e}: done.`)},h=b=>{this.typed=b.target.value},f=a===void 0&&l===void 0;return n`<dialog aria-labelledby="question" @close=${()=>this.closeDialog()}>
<form @submit=${p}>
<h3 id="question">${e}</h3>
<p>${t}</p>
${i?n`<label>To confirm, type ${i}
              <input autocomplete="off" spellcheck="false" @input=${h} /></label>`:d}
        ${a===void 0?d:n`<label>New name<input required maxlength="100" autocomplete="off" .value=${a} @input=${h} /></label>`}
        ${l?n`<label>${l.label}<textarea rows="6" autocomplete="off" spellcheck="false" .value=${l.items.join(`
`)} @input=${h}></textarea></label>`:d}
        <footer>
          <button type="button" @click=${()=>this.closeDialog()}>Cancel</button>
          <button class=${f?"danger":"primary"} ?disabled=${i!==void 0&&this.typed!==i}>${s}</button>
        </footer>
      </form>
    </dialog>`}secretDialog({title:e,value:t}){let s=async()=>{this.copied=await V(t)?"Copied.":"The browser does not let the page copy: select the text and copy it."};return n`<dialog aria-labelledby="secret" @close=${()=>this.closeDialog()}>
<h3 id="secret">${e}</h3>
<p>It is shown only now. The server cannot show it again.</p>
<pre tabindex="0">${t}</pre>
<p role="status">${this.copied}</p>
<footer>
<button @click=${s}>Copy</button>
<button class="primary" @click=${()=>this.closeDialog()}>I have stored it</button>
</footer>
</dialog>`}table(e,t,s){return t.length===0?n`<div class="empty">${s}</div>`:n`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
<table>
<thead><tr>${e.map(i=>n`<th scope="col">${i||n`<span class="visually-hidden">Actions</span>`}</th>`)}</tr></thead>
        <tbody>${t}</tbody>
      </table>
    </div>`}masterOnly(){return this.session.isMaster?d:n`<p class="notice">Changes need a master key. You are signed in with a project key.</p>`}};var xe=["threshold","window_seconds","cooldown_seconds"],_e=["actor_types","categories","outcomes","not_actor_ids"],Te=(r,o=[])=>o.join(r==="not_actor_ids"?`
`:", "),Ze=Object.keys(Q),Ht=Ze.filter(r=>r!=="tenant_id"),Z=class extends m{constructor(){super();this.heading="Alert rules";this.text="A rule counts events whose action matches its pattern, by actor, tenant, address, session or target, and raises an alert at its threshold. Built-in rules can be switched off; their numbers and conditions can be changed.";this.rules=[]}static{this.properties={rules:{state:!0},preview:{state:!0}}}get draft(){return this.rules.find(({id:e})=>e===this.named("rule"))??{}}async load(e){this.rules=(await e.get("/alerts/rules")).rules}reload(){return this.preview=void 0,super.reload()}updated(e){(e.has("query")||e.has("isLoaded"))&&this.draft.id!==void 0&&this.renderRoot.querySelector("form")?.scrollIntoView({block:"nearest"})}amend(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,t),`${e.name}: changed.`)}toggle(e,t){if(t.checked)return this.amend(e,{enabled:!0});t.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:`From now on the rule raises no alert (severity ${e.severity}). Events that arrive meanwhile are not counted later.`,run:()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"The rule stops at once. Alerts that it has raised stay. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/alerts/rules/${e.id}`)})}async show(e,t){this.preview=void 0,await this.attempt(async()=>{this.preview={name:t,result:await Qe(this.apiUntil(this.loading.signal),e)}}),await this.updateComplete,this.renderRoot.querySelector("section h3")?.scrollIntoView({block:"nearest"})}async onSubmit(e){let t=v(e),s={...t};for(let w of xe)w in s&&(s[w]=Number(s[w]));for(let w of _e)s[w]=$(t[w],w==="not_actor_ids"?/\n/:void 0);if(e.submitter?.value==="preview")return this.show(s,"this rule");let{id:a,type:l}=this.draft,c=new FormData(e.target);if(a)for(let w of _e)c.get(w)===Te(w,this.draft[w])&&delete s[w];let p=Object.fromEntries([...xe,..._e].map(w=>[w,s[w]])),h=l==="builtin"?p:{...s,...a&&!t.count_distinct?{count_distinct:null}:{}},{api:f}=this.session,b=()=>a?f.send("PATCH",`/alerts/rules/${a}`,h):f.send("POST","/alerts/rules",h),E=`${String(s.name)}: stored.`;await this.change(b,E)&&this.go({rule:void 0},E)}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>n`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.toggle(s,i.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?n`<span class="badge">built-in</span>`:d}</th>
      <td class="wide"><code>${s.action_pattern}</code></td>
      <td class="wide">${s.threshold}${s.count_distinct?` distinct ${s.count_distinct}`:""} in ${s.window_seconds} s by ${s.group_by}</td>
      <td><span class="badge ${s.severity}">${s.severity}</span></td>
      <td>${s.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${()=>this.show(s,s.name)}>Preview</button>
        ${e?n`<button @click=${()=>this.go({rule:s.id})}>Edit</button>`:d}
        ${e&&s.type==="custom"?n`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:d}
      </td>
    </tr>`);return n`${this.masterOnly()} ${this.table(["On","Rule","Action","Fires at","Severity","Cooldown",""],t,"No rules.")}
<div class="columns">${e?n`<div>${this.form()}</div>`:d} ${this.preview?this.previewOf(this.preview.name,this.preview.result):d}</div>`}previewOf(e,{lookedAt:t,matching:s,alerts:i}){let a=i.slice(0,20).map(l=>n`<tr><td>${R({id:l.group,name:l.name})}</td><td>${l.count}</td><td>${u(l.at)}</td></tr>`);return n`<section aria-label="Preview"><h3 tabindex="-1">Preview of ${e}</h3>
<p>Among the newest ${t} events with this action (at most ${2e3}), ${s} match. The rule would have raised <b>${i.length}</b> alerts. The preview counts by the time of the events; the server also leaves out events that arrive later than the window.</p>
${this.table(["Group","Count","Time"],a,"It would have raised no alert.")}</section>`}form(){let{draft:e}=this,t=e.type==="builtin",s=(l,c,p,h,f={})=>n`<label>
${c}<input name=${l} type=${p} required ?disabled=${t&&!xe.includes(l)} min=${f.min??d} max=${f.max??d} .value=${String(e[l]??h)} />
</label>`,i=(l,c,p)=>n`<label>
${c}<select name=${l} ?disabled=${t}>${p.map(h=>n`<option value=${h} .selected=${(e[l]??"")===h}>${h||"events"}</option>`)}</select>
    </label>`,a=(l,c)=>n`<label class="wide">
${c}<input name=${l} .value=${Te(l,e[l])} />
</label>`;return n`<h3>${e.id?`Edit ${e.name??""}`:"New rule"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${s("name","Name","text","")} ${s("action_pattern","Action pattern","text","*.deleted")}
        ${s("threshold","Threshold","number",5,{min:1,max:1e4})} ${s("window_seconds","Window, seconds","number",300,{min:60,max:3600})}
        ${i("count_distinct","Count distinct",["",...Ht])} ${i("group_by","Count by",Ze)} ${i("severity","Severity",["low","medium","high","critical"])}
        ${s("cooldown_seconds","Cooldown, seconds","number",3600,{min:0,max:604800})}
        ${a("actor_types","Only actor types")} ${a("categories","Only categories")}
        ${a("outcomes","Only outcomes")} <label class="wide">Not these actors, one id per line<textarea name="not_actor_ids" rows="2" .value=${Te("not_actor_ids",e.not_actor_ids)}></textarea></label>
        <button class="primary" value="store">${e.id?"Store changes":"Create rule"}</button>
        ${t?d:n`<button value="preview">Preview</button>`}
        ${e.id?n`<button type="button" class="plain" @click=${()=>this.go({rule:void 0})}>Cancel</button>`:d}
      </form>`}};var et={actor_id:"actor",tenant_id:"tenant",ip_address:"address",session_id:"session",target_id:"target"};async function tt(r,o,e,t){let{alert:s}=await o.get(`/alerts/${t}`),i=new S(r.with({environment:"live"}).api.connection,e),[a,l]=await Promise.all([y(o.get("/events",{id:s.sample_event_ids})),y(i.get("/events",{tenant_id:F,action:"audit.alert.updated",target_id:t}))]);return{alert:s,events:a?.events,changes:l?.events}}function Se({group_by:r,group_key:o,actor_name:e}){return n`${et[r]??r} ${R({id:o,name:e??""})}`}function Re({event_count:r,count_distinct:o}){return`${r}${o?` distinct: ${et[o]??o}`:""}`}function st(r,o){let{group_by:e,group_key:t,tenant_id:s}=r,i=["actor_id","target_id","tenant_id"].includes(e),a=[["Rule",n`<a href=${o("rules",{rule:r.rule_id})}>${r.rule_name}</a>`],["Severity",n`<span class="badge ${r.severity}">${r.severity}</span>`],["Status",n`<span class="badge ${r.status}">${r.status}</span>`],["Tenant",g(s)],["Group",n`${Se(r)}${i?n` · <a href=${o("events",{tenant_id:s,[e]:t})}>all its events</a>`:d}`],["Events when it fired",Re(r)],["Project",n`${r.project_name??""} ${r.environment??""}`],["Id",n`<code>${r.id}</code>`]];return n`<div class="scroll" tabindex="0" role="group" aria-label="The alert"><table class="facts"><tbody>${a.map(([l,c])=>n`<tr><th scope="row">${l}</th><td>${c}</td></tr>`)}</tbody></table></div>`}function it({alert:r,changes:o=[]}){return[["open",r.fired_at],["acknowledged",r.acknowledged_at],["resolved",r.resolved_at]].flatMap(([t,s])=>{if(!s)return[];let i=o.find(l=>l.changes?.some(({field:c,after:p})=>c==="status"&&p===t)),a=t==="open"?n`the rule`:i?.actor?R(i.actor):n`–`;return[n`<tr><th scope="row"><span class="badge ${t}">${t}</span></th><td>${u(s)}</td><td>${a}</td></tr>`]})}function nt({alert:r,events:o},e){return r.sample_event_ids.map(t=>{let s=o?.find(a=>a.id===t),i=s?.target?R(s.target):"–";return n`<tr>
<th scope="row"><a href=${e("events",{event:t})}>${s?.action??t}</a></th>
<td>${u(s?.occurred_at)}</td><td class="wide">${s?.actor?R(s.actor):"–"}</td><td>${i}</td>
<td class="wide">${g(s?.context?.ip_address??"–")}</td><td>${s?.outcome??"–"}</td>
</tr>`})}var rt={acknowledged:"Acknowledge",resolved:"Resolve"},Bt=["open","acknowledged","resolved"],Wt=["critical","high","medium","low"],ee="all",te=class extends m{constructor(){super();this.heading="Alerts";this.text="Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";this.chosen=new Set}static{this.properties={page:{state:!0},opened:{state:!0},chosen:{state:!0}}}get alertId(){return this.idOf("alert","alt")}get status(){return this.named("status")||"open"}get severity(){return this.named("severity")||ee}read(e,t){let s=i=>i===ee?"":i;return e.get("/alerts",{status:s(this.status),severity:s(this.severity),cursor:t})}async load(e,t){this.page=void 0,this.opened=void 0,this.chosen=new Set;let{alertId:s}=this;s?this.opened=await tt(this.session,e,t,s):this.page=await this.read(e)}async more({alerts:e,cursor:t}){let{signal:s}=this.loading;await this.attempt(async()=>{let i=await this.read(this.apiUntil(s),t??void 0);this.page={...i,alerts:[...e,...i.alerts]}})}async apply(e,t){let s=[];for(let{id:a}of e)await this.session.api.send("PATCH",`/alerts/${a}`,{status:t}).catch(l=>s.push(j(l)));let[i]=s;if(i)throw await this.loadNewest(),e.length===1||i.kind==="expired"?i:new Fe(i.kind,`${s.length} of ${e.length} alerts were not changed: ${i.message}`,i.status,i.code,i.requestId,i.details)}set(e,t){let[s]=e;this.change(()=>this.apply(e,t),`${e.length===1&&s?s.rule_name:`${e.length} alerts`}: ${t}.`)}setAll(e){let t=this.page?.alerts.filter(({id:s})=>this.chosen.has(s))??[];if(e==="acknowledged")return this.set(t,e);this.ask({title:`Resolve ${t.length} alerts`,verb:"Resolve",text:"A resolved alert never becomes open again. The next events can raise a new one.",run:()=>this.apply(t,e)})}choose(e,t){let s=new Set(this.chosen);for(let i of e)t?s.add(i):s.delete(i);this.chosen=s}select(e,t,s,i){return n`<label>${e}<select @change=${l=>{let{value:c}=l.target;this.go({[t]:c===i?void 0:c})}}>
${[ee,...s].map(l=>n`<option .selected=${l===this[t]}>${l}</option>`)}
    </select></label>`}buttons(e){let t=s=>n`<button @click=${()=>this.set([e],s)}>${rt[s]}</button>`;return n`${e.status==="open"?t("acknowledged"):d} ${e.status==="resolved"?d:t("resolved")}`}row(e){let t=s=>this.choose([e.id],s.target.checked);return n`<tr>
<td>${e.status==="resolved"?d:n`<input type="checkbox" aria-label="Choose ${e.rule_name}" .checked=${this.chosen.has(e.id)} @change=${t} />`}</td>
      <td><span class="badge ${e.severity}">${e.severity}</span></td>
      <th scope="row"><a href=${this.hrefOf({alert:e.id})}>${e.rule_name}</a></th>
      <td>${g(e.tenant_id)}</td><td class="wide">${Se(e)}</td><td>${Re(e)}</td>
      <td>${u(e.fired_at)}</td>
      <td><span class="badge ${e.status}">${e.status}</span></td>
      <td class="actions">${this.buttons(e)}</td>
    </tr>`}content(){let{opened:e,page:t}=this;return this.alertId?e?this.alertPage(e):this.back():n`
<div class="bar">${this.select("Status","status",Bt,"open")} ${this.select("Severity","severity",Wt,ee)} ${t?this.bulk(t):d}</div>
${t?this.table(["Chosen","Severity","Rule","Tenant","Group","Events","Fired","Status",""],t.alerts.map(s=>this.row(s)),"No alerts with this status."):this.failure?d:this.waiting()}
${t?.cursor?n`<p><button ?disabled=${this.isBusy} @click=${()=>this.more(t)}>Show older alerts</button></p>`:d}
    `}bulk({alerts:e}){let t=e.filter(({status:a})=>a!=="resolved").map(({id:a})=>a),{size:s}=this.chosen;if(t.length===0)return d;let i=s===t.length;return n`<button @click=${()=>this.choose(t,!i)}>${i?"Choose none":`Choose all ${t.length}`}</button>
      ${["acknowledged","resolved"].map(a=>n`<button ?disabled=${s===0||this.isBusy} @click=${()=>this.setAll(a)}>${rt[a]} ${s} chosen</button>`)}`}back(){return n`<p><a href=${this.hrefOf({alert:void 0})}>All alerts</a></p>`}alertPage(e){let t=(i,a)=>this.linkTo(i,a),{alert:s}=e;return n`${this.back()}
<h3>${s.rule_name}</h3>
${st(s,t)}
<div class="bar">${this.buttons(s)}</div>
<h3>History</h3>
${this.table(["Status","Since","By"],it(e),"")}
<h3>Events</h3>
<p class="muted">The newest events that it counted, 10 at most.</p>
${this.table(["Event","Time","Actor","Target","Address","Outcome"],nt(e,t),"It names no events.")}`}};var H=()=>({kind:"https",isConfigured:!0});function ot(r,o){let e={actions:$(o.actions),categories:$(o.categories),tenant_ids:$(o.tenant_ids,/\n/)},t={name:o.name,format:o.format,include_raw:o.include_raw!==void 0,filter:Object.fromEntries(Object.entries(e).filter(([,i])=>i.length>0))},s=P[r.kind];return r.id===void 0&&(t.kind=r.kind),s&&r.isConfigured&&(t.settings=we("settings",s.settings,o),t.credentials=we("credentials",s.credentials,o)),t}function at(r,o){let{id:e,kind:t,filter:s={},isConfigured:i}=r,a=P[t],l=h=>o({...r,kind:h.target.value}),c=h=>o({...r,isConfigured:h.target.checked}),p=a?.formats??[];return n`
<label>Name<input name="name" required maxlength="100" autocomplete="off" .value=${r.name??""} /></label>
${e===void 0?n`<label>Kind<select @change=${l}>${Object.entries(P).map(([h,{label:f}])=>n`<option value=${h} .selected=${h===t}>${f}</option>`)}</select></label>`:d}
    <label>Format<select name="format">${p.map(h=>n`<option .selected=${h===(r.format??"json")}>${h}</option>`)}</select></label>
    <label class="check"><input type="checkbox" name="include_raw" .checked=${r.include_raw??!1} />whole event in OCSF records</label>
    <label class="wide">Only actions<input name="actions" placeholder="auth.*, *.deleted" .value=${s.actions?.join(", ")??""} /></label>
    <label class="wide">Only categories<input name="categories" placeholder=${D.join(", ")} .value=${s.categories?.join(", ")??""} /></label>
    <label class="wide">Only tenants, one id per line<textarea name="tenant_ids" rows="2" .value=${s.tenant_ids?.join(`
`)??""}></textarea></label>
    ${e===void 0?d:n`<label class="check"><input type="checkbox" .checked=${i} @change=${c} />Replace settings and all credentials</label>`}
    ${a&&i?X(t,n`${a.settings.map(h=>ke("settings",h,r.settings?.[h.name]))}
${a.credentials.map(h=>ke("credentials",h,void 0))}`):d}`}var x=new Intl.NumberFormat,Kt={active:"on",delayed:"pending",credentials:"critical",parked:"critical",paused:""},zt={active:"active",delayed:"delayed",credentials:"credentials refused",parked:"parked",paused:"paused"};function Ee(r){return n`<span class="badge ${Kt[r]??""}">${zt[r]??r}</span>`}function lt({lag_events:r,lag_seconds:o}){let e=r===1?"event":"events";return r===0?"none":`${x.format(r)} ${e}, ${x.format(o??0)} s`}function dt(r){return typeof r=="string"?g(r):O(r)}function Ae({status:r,request:o,response:e}){let t=[o||"nothing was sent",`${r??"no status"}: ${e||"no text"}`];return n`<pre tabindex="0">${g(t.join(`
`))}</pre>`}function ct({events:r}){return n`<ul>${r.map(({position:o,verdict:e,status:t,response:s})=>n`<li>position ${o}: ${e} ${t??""} ${g(s)}</li>`)}</ul>`}function pt(r){let{filter:o,settings:e,credentials:t,created_by_tenant:s,ocsf_classes:i,previous_credentials_in_use:a}=r,l=[["Id",n`<code>${r.id}</code>`],["Created",n`${u(r.created_at)}`],["Delivered",`${x.format(r.position)} records; next is event ${x.format(r.cursor_seq)} of the log`],...s===null?[]:[["Created by the tenant",g(s)]],["Filter",Object.keys(o).length>0?n`<pre tabindex="0">${O(o)}</pre>`:"all events"],...i.length>0?[["Classes in OCSF",n`<pre tabindex="0">${O(i)}</pre>`]]:[],["Settings",n`<pre tabindex="0">${O(e)}</pre>`],["Credentials",`${t.join(", ")||"none"}${a?"; the receiver has taken nothing with the new ones yet, and the ones before are tried as well":""}`]];return n`<table class="facts"><tbody>${l.map(([c,p])=>n`<tr><th scope="row">${c}</th><td>${p}</td></tr>`)}</tbody></table>`}var se=class extends m{constructor(){super();this.form=0;this.heading="Destinations";this.text="A destination sends the events of this project and environment to a SIEM or a bucket, in the order of the log. Nothing is dropped: what a receiver does not take now waits, and what it refuses for good is listed.";this.destinations=[],this.draft=H()}static{this.properties={destinations:{state:!0},opened:{state:!0},draft:{state:!0}}}static{this.styles=[m.styles,k`h3, h4 { overflow-wrap: anywhere; } h4 { margin: 16px 0 6px; } .facts pre { border: 0; padding: 0; background: none; } .facts pre, .records pre { max-height: 300px; } .records pre { margin-bottom: 8px; }`]}async load(e){if(!this.session.isMaster)return;this.destinations=(await e.get("/destinations")).destinations;let{draft:t}=this;t.id!==void 0&&!this.destinations.some(({id:i})=>i===t.id)&&this.edit(H());let s=this.destinations.find(({id:i})=>i===this.named("destination"));s?.id!==this.opened?.destination.id&&(this.opened=void 0),s&&await this.open(e,s)}edit(e){this.form+=1,this.draft=e}async startEdit(e){this.edit({...e,isConfigured:!1}),await this.updateComplete,this.renderRoot.querySelector("input[name=name]")?.focus()}show(e,t){this.opened?.destination.id===e&&(this.opened={...this.opened,...t})}async open(e,t){let s=await e.get(`/destinations/${t.id}/set-aside`);this.opened={...this.opened,destination:t,setAside:s.events,cursor:s.cursor}}async showMore(e){let t=await this.apiUntil(this.loading.signal).get(`/destinations/${e.destination.id}/set-aside`,{cursor:e.cursor??void 0});this.opened={...e,setAside:[...e.setAside,...t.events],cursor:t.cursor}}async onSubmit(e){let{draft:t}=this,s=ot(t,v(e)),i,a=async()=>{let{api:c}=this.session;i=(await(t.id===void 0?c.send("POST","/destinations",s):c.send("PATCH",`/destinations/${t.id}`,s))).destination,i.signing_secret&&this.reveal("Secret that signs requests to the destination",i.signing_secret)},l=`${String(s.name)}: stored.`;await this.change(a,l)&&(this.edit(H()),i&&this.go({destination:i.id},l))}setPaused({id:e,name:t},s){let i=()=>this.session.api.send("PATCH",`/destinations/${e}`,{paused:s});if(!s)return void this.change(i,"The next attempt is made now.");this.ask({title:`Pause the destination “${t}”`,verb:"Pause",text:"From now on its receiver gets no events, and what watches them there sees none. They wait, and are sent when it is resumed.",run:i})}test({id:e}){this.change(async()=>{this.show(e,{tested:await this.session.api.send("POST",`/destinations/${e}/test`)})})}preview({id:e},t){this.attempt(async()=>{this.show(e,{preview:await this.apiUntil(this.loading.signal).get(`/destinations/${e}/preview`,{format:t})})})}confirmRemoval({id:e,name:t,set_aside:s}){this.ask({title:`Delete the destination “${t}”`,verb:"Delete",typed:t,text:`Nothing more is sent, and its list of ${x.format(s)} events that were set aside is deleted. The events stay in the log. To stop for a time, pause it.`,run:()=>this.session.api.send("DELETE",`/destinations/${e}`)})}count(e,{id:t}){let{from_seq:s,from:i,to:a}=v(e),l=h=>h&&new Date(h).toISOString(),c=l(a),p={...s===void 0?{}:{from_seq:Number(s)},...i?{from:l(i)}:{},...c?{to:c}:{},dry_run:!0};this.attempt(async()=>{this.show(t,{counted:void 0});let h=await this.session.api.send("POST",`/destinations/${t}/replay`,p),f={from_seq:h.from_seq,...c?{to:c}:{}};this.show(t,{counted:{range:h,request:f}})})}confirmReplay({id:e,name:t},{range:s,request:i}){this.ask({title:`Replay to “${t}”`,verb:"Start the replay",text:`The events from position ${s.from_seq} of the log on are sent again, beside the new ones, which go on. The receiver has them twice; the records of the replay say that they are of one.`,run:async()=>{await this.session.api.send("POST",`/destinations/${e}/replay`,i),this.show(e,{counted:void 0})}})}confirmStop({id:e}){this.ask({title:"Stop the replay",verb:"Stop",text:"Records that were sent stay at the receiver. New events are not concerned.",run:()=>this.session.api.send("DELETE",`/destinations/${e}/replay`)})}resend({id:e},t){let s=t?{run:t.run,positions:[t.position]}:{};this.change(async()=>{this.show(e,{resent:await this.session.api.send("POST",`/destinations/${e}/set-aside/resend`,s)})})}content(){if(!this.session.isMaster)return n`<p class="notice">Destinations need a master key.</p>`;let{opened:e,draft:t}=this,s=this.destinations.map(a=>n`<tr>
<td>${Ee(a.state)}</td>
<th scope="row">${g(a.name)} <span class="muted">${P[a.kind]?.label??a.kind}, ${a.format}</span>${a.created_by_tenant===null?d:n` <span class="muted">of the tenant ${g(a.created_by_tenant)}</span>`}</th>
      <td>${lt(a)}</td>
      <td>${u(a.last_success_at)}</td>
      <td>${u(a.next_attempt_at)}</td>
      <td>${x.format(a.set_aside)}</td>
      <td class="actions"><button @click=${()=>this.go({destination:a.id})}>Open</button></td>
    </tr>`),i=t.id===void 0?"New destination":`Edit ${t.name??""}`;return n`<div class="bar"><button @click=${()=>this.loadNewest()}>Refresh</button></div>
${this.table(["State","Destination","Lag","Last success","Next attempt","Set aside",""],s,"No destinations in this environment yet.")}
${e?this.details(e):d}
<h3>${i}</h3>
${X(this.form,n`<form class="inline" aria-label=${i} @submit=${this.onSubmit}>
        ${at(t,a=>this.draft=a)}
        <button class="primary" ?disabled=${this.isBusy}>${t.id===void 0?"Create destination":"Store changes"}</button>
        ${t.id===void 0?d:n`<button type="button" class="plain" @click=${()=>this.edit(H())}>Cancel</button>`}
      </form>`)}`}details(e){let{destination:t,tested:s}=e,{state:i,paused:a,last_error:l}=t;return n`<h3>${g(t.name)}</h3>
<div class="bar">
<button ?disabled=${this.isBusy} @click=${()=>this.test(t)}>Send a test record</button>
${a?d:n`<button @click=${()=>this.setPaused(t,!0)}>Pause</button>`}
        ${a||i!=="active"?n`<button @click=${()=>this.setPaused(t,!1)}>${a||i==="parked"?"Resume":"Send now"}</button>`:d}
        <button @click=${()=>this.preview(t)}>Preview</button>
        ${t.created_by_tenant===null?n`<button @click=${()=>this.startEdit(t)}>Edit</button>`:d}
        <button class="danger" @click=${()=>this.confirmRemoval(t)}>Delete</button>
      </div>
      ${s?n`<h4>Test: ${s.verdict}</h4>${Ae(s)}`:d}
      ${l?n`<h4>Last attempt that failed: ${u(l.at)}</h4>${Ae(l)}`:d}
      ${pt(t)} ${e.preview?this.previewOf(t,e.preview):d} ${this.replayOf(e)} ${this.setAsideOf(e)}`}previewOf(e,{format:t,records:s}){return n`<h4>Preview</h4>
<p class="muted">The next records; where fewer than ten events wait, the latest ones of the log, as they would come next. Nothing is sent.</p>
<div class="bar"><label>Format of the preview<select @change=${a=>this.preview(e,a.target.value)}>${P[e.kind]?.formats.map(a=>n`<option .selected=${a===t}>${a}</option>`)}</select></label></div>
      <div class="records">${s.length>0?s.map(a=>n`<pre tabindex="0">${dt(a)}</pre>`):"The log has no event that passes the filter."}</div>`}replayOf({destination:e,counted:t}){let{replay:s}=e;return s?n`<h4>Replay</h4>
<p>${Ee(s.state)} ${x.format(s.position)} records were sent; it is at ${x.format(s.cursor_seq)} of ${x.format(s.end_seq)} in the log. Its records have the run ${s.number}.
<button class="danger" @click=${()=>this.confirmStop(e)}>Stop</button></p>`:n`<h4>Replay</h4>
<form class="inline" aria-label="Replay" @submit=${i=>this.count(i,e)}>
<label>Received from<input name="from" type="datetime-local" step="1" /></label>
<label>or from position in the log<input name="from_seq" type="number" min="0" placeholder="0" /></label>
<label>Received before<input name="to" type="datetime-local" step="1" /></label>
<button ?disabled=${this.isBusy}>Count</button>
</form>
${t?this.countOf(e,t):d}`}countOf(e,t){let{from_seq:s,end_seq:i,count:a}=t.range,l=i-s,c=x.format(a?.matching??0),p=a&&a.looked_at<l?`${c} of the first ${x.format(a.looked_at)} events pass the filter; the range has ${x.format(l)}.`:`${c} of the ${x.format(l)} events of the range pass the filter.`;return n`<p role="status">${p}
<button class="primary" ?disabled=${l===0} @click=${()=>this.confirmReplay(e,t)}>Start the replay</button></p>`}setAsideOf({destination:e,setAside:t,cursor:s,resent:i}){let a=t.map(c=>n`<tr>
<td>${c.position}${c.run>0?n` <span class="muted">run ${c.run}</span>`:d}</td>
      <th scope="row"><a href=${this.linkTo("events",{event:c.event_id})}>${c.event_id}</a> <span class="muted">${c.seq} in the log</span></th>
      <td>${u(c.at)}</td>
      <td>${g(c.reason)}</td>
      <td class="actions"><button ?disabled=${this.isBusy} @click=${()=>this.resend(e,c)}>Resend</button></td>
    </tr>`),l=c=>{this.attempt(()=>this.showMore(c))};return n`<h4>Set aside</h4>
<p class="muted">Events that the receiver has refused for good. They keep their positions, and leave this list once they are delivered.</p>
${i?n`<p role="status">${x.format(i.events.length)} sent again, ${x.format(i.remaining)} still in the list.</p>${ct(i)}`:d}
      ${a.length>0?n`<div class="bar"><button ?disabled=${this.isBusy} @click=${()=>this.resend(e)}>Resend the first ten</button></div>`:d}
      ${this.table(["Position","Event","Refused","Response",""],a,"The receiver has refused nothing.")}
      ${s&&this.opened?n`<p><button @click=${()=>this.opened&&l(this.opened)}>Show more</button></p>`:d}`}};var B=new Intl.NumberFormat,Pe=[["person","The person","where the person is the actor, all parts but kind and target; where it is the target, target, metadata and changes; elsewhere the parts that name the person."],["all","All parts","all parts of each event but its kind. Position, id, times and tenant stay."],["row","Whole events","each event as a whole. Its position and its hash stay."]],ne=[["gdpr_17","GDPR, article 17"],["ccpa","CCPA"],["contract","contract"],["other","other"]],Vt={listing:"reading the log",listed:"to be confirmed",planned:"in its grace period",erasing:"erasing",cleaning:"cleaning up",done:"done",cancelled:"cancelled"},Jt={listed:"open",planned:"pending",done:"on"},ie=(r,o)=>r.find(([e])=>e===o)?.[1]??o;function Oe(r){return n`<span class="badge ${Jt[r]??""}">${Vt[r]??r}</span>`}var ht=({state:r})=>r!=="done"&&r!=="cancelled",ut=({state:r})=>r==="listing"||r==="erasing"||r==="cleaning",mt=({state:r})=>r==="listing"||r==="listed"||r==="planned";function N({events:r,rows:o}){return`${B.format(r)} ${r===1?"event":"events"}${o>0?`, ${B.format(o)} of them as a whole`:""}`}var Gt={clock:"The clock of the server was changed: it goes on after 24 hours.",signature:"Its event in the log is not signed yet.",quorum:"The checkpoint has no quorum of witnesses yet."};function gt(r){let{waiting_for:o}=r;return n`${Xt(r)}${o===null?d:n`<p class="notice">${Gt[o]??o}</p>`}`}function Xt(r){let{state:o,events:e,read:t,size:s,not_before:i,done_at:a}=r;return o==="listing"?n`<p><label>Reading the log: ${B.format(t)} of ${B.format(s)} events<progress max=${Math.max(s,1)} .value=${t}></progress></label></p>`:o==="listed"?n`<p>Nothing is erased before you confirm this list.</p>`:o==="planned"?n`<p>${N(r)} will be erased, not before ${u(i)}. Until then you can cancel. A hold cancels it too.</p>`:o==="done"?n`<p>${e===0?"No event of this log has the identifiers, or a hold covers those that do.":`${N(r)}: erased.`} Done ${u(a)}.</p>`:o==="cancelled"?n`<p>It was cancelled: its events stay.</p>`:n`<p>${N(r)}: being erased. It cannot be cancelled any more.</p>`}function vt(r){let{basis:o,ticket:e,extent:t,created_at:s,held:i,digest:a,planned_seq:l,erased_seq:c,erased_at:p}=r,h=[["State",Oe(r.state)],["Extent",ie(Pe,t)],["Basis",ie(ne,o)],["Ticket",e===null?"–":g(e)],["Requested",u(s)],["Events",N(r)],["Held, and so not erased",B.format(i)],...a===null?[]:[["Digest",n`<code>${a}</code>`]],...l===null?[]:[["Planned by event",`${l}`]],...c===null?[]:[["Erased by event",n`${c}, ${u(p)}`]]];return n`<table class="facts"><tbody>${h.map(([f,b])=>n`<tr><th scope="row">${f}</th><td>${b}</td></tr>`)}</tbody></table>`}function ft({out_of_reach:r}){return r.length===0?d:n`<h3>Out of reach</h3>
<p class="muted">Copies that this service cannot erase. Erase them where they are.</p>
<ul>${r.map(({kind:o,name:e,detail:t})=>n`<li><b>${o}${e===null?d:n` ${g(e)}`}</b>: ${g(t)}</li>`)}</ul>`}var Yt=2e3,re=class extends m{constructor(){super();this.heading="Erasures";this.text="Erase a person from the events of this project and environment. The service lists the events, you check and confirm the list, and after a grace period the listed parts are erased. The log stays verifiable.";this.erasures=[]}static{this.properties={erasures:{state:!0},opened:{state:!0}}}static{this.styles=[m.styles,k`fieldset { flex-direction: column; }`]}get wanted(){return this.idOf("erasure","ers")}async load(e,t){if(!this.session.isMaster)return;let{wanted:s}=this;s?await this.open(e,s,t):this.erasures=(await e.get("/erasures")).erasures}async open(e,t,s){let i=(await y(e.get(`/erasures/${t}`)))?.erasure,a=this.opened,c=a&&i&&a.erasure.id===t&&a.erasure.state===i.state&&a.erasure.digest===i.digest?a:i&&i.state!=="listing"?await this.read(e,t):{events:[],cursor:null};if(s.aborted||(this.opened=i&&{erasure:i,events:c.events,cursor:c.cursor},!i||!ut(i)))return;setTimeout(()=>this.open(e,t,s).catch(h=>{A(h)||(this.failure=j(h))}),Yt)}read(e,t,s){return e.get(`/erasures/${t}/events`,{cursor:s})}async more({erasure:e,events:t,cursor:s}){await this.attempt(async()=>{let i=await this.read(this.apiUntil(this.loading.signal),e.id,s??void 0);this.opened={erasure:e,events:[...t,...i.events],cursor:i.cursor}})}async request(e){let t=e.target,{ids:s,texts:i,...a}=v(e),l={ids:$(s,/\n/),texts:$(i,/\n/)},c=Object.fromEntries(Object.entries(l).filter(([,p])=>p.length>0));await this.attempt(async()=>{let{erasure:p}=await this.session.api.send("POST","/erasures",{...a,identifiers:c});t.reset(),this.go({erasure:p.id},"The erasure was requested.")})}exclude(e,t){this.change(()=>this.session.api.send("POST",`/erasures/${e}/exclude`,{seqs:[t]}),`Event ${t} was excluded.`)}confirm(e){this.ask({title:`Confirm the list of ${N(e)}`,verb:"Erase after the grace period",typed:e.id,text:"You confirm this list. Until the end of the grace period you can cancel. What is erased cannot be restored.",run:()=>this.session.api.send("POST",`/erasures/${e.id}/confirm`,{digest:e.digest})})}cancel({id:e}){this.ask({title:`Cancel the erasure ${e}`,verb:"Cancel the erasure",text:"Its events stay, and its list is deleted. To erase the person, request it again.",run:async()=>{await this.session.api.send("DELETE",`/erasures/${e}`),this.go({erasure:void 0},"The erasure was cancelled.")}})}content(){return this.session.isMaster?this.wanted?this.page():n`${this.form()} ${this.list()}`:n`<p class="notice">Erasures need a master key.</p>`}form(){return n`<h3>Request</h3>
<form class="inline" @submit=${this.request}>
<label class="wide">Ids, one a line<textarea name="ids" rows="4" autocomplete="off" spellcheck="false" placeholder="usr_42"></textarea></label>
<label class="wide">Names and addresses, one a line<textarea name="texts" rows="4" autocomplete="off" spellcheck="false" placeholder="jane@example.com"></textarea></label>
<fieldset><legend>Extent</legend>${Pe.map(([e,t,s],i)=>n`
          <label class="check"><input type="radio" name="extent" value=${e} ?checked=${i===0} /> <span>${t}: <span class="muted">${s}</span></span></label>`)}</fieldset>
        <label>Basis<select name="basis">${ne.map(([e,t])=>n`<option value=${e}>${t}</option>`)}</select></label>
        <label>Ticket (no name, no address)<input name="ticket" maxlength="64" autocomplete="off" /></label>
        <button class="primary" ?disabled=${this.isBusy}>Find the events</button>
        <span class="muted">An id matches a whole value. A name or an address also matches within a text, at word boundaries. The identifiers are kept in memory until the list is made, and stored nowhere.</span>
      </form>`}list(){let e=this.erasures.map(t=>n`<tr>
<th scope="row"><a href=${this.hrefOf({erasure:t.id})}>${t.ticket===null?t.id:g(t.ticket)}</a></th>
<td>${Oe(t.state)}</td><td>${ie(ne,t.basis)}</td><td>${N(t)}</td><td>${u(t.created_at)}</td><td>${u(t.not_before)}</td><td>${u(t.done_at)}</td>
</tr>`);return this.table(["Erasure","State","Basis","Events","Requested","Not before","Done"],e,"No erasures.")}page(){let{opened:e}=this,t=n`<p><a href=${this.hrefOf({erasure:void 0})}>All erasures</a></p>`;if(!e)return n`${t}<p class="notice">This erasure does not exist, or it was cancelled.</p>`;let{erasure:s}=e,i=s.state==="listed"&&s.digest!==null;return n`${t}
<h3>${s.id}</h3>
${gt(s)} ${vt(s)}
<div class="bar">
${i?n`<button class="danger" ?disabled=${this.isBusy} @click=${()=>this.confirm(s)}>Confirm this list</button>`:d}
        ${mt(s)?n`<button @click=${()=>this.cancel(s)}>Cancel this erasure</button>`:d}
      </div>
      ${s.state==="listing"?d:this.events(e)} ${ft(s)}`}events(e){let{erasure:t,events:s,cursor:i}=e,a=s.map(({seq:l,id:c,occurred_at:p,action:h,row:f,parts:b})=>n`<tr>
<th scope="row">${l}</th><td>${c===null?"removed":n`<a href=${this.linkTo("events",{event:c})}>${g(h??c)}</a>`}</td><td>${u(p)}</td>
      <td class="wide">${f?"the whole event":b.join(", ")}</td>
      <td class="actions">${t.state==="listed"?n`<button ?disabled=${this.isBusy} aria-label="Exclude event ${l}" @click=${()=>this.exclude(t.id,l)}>Exclude</button>`:d}</td>
    </tr>`);return n`<h3>Events</h3>
${this.table(["Position","Event","Occurred","Erased",""],a,"No events.")}
${i===null?d:n`<p><button ?disabled=${this.isBusy} @click=${()=>this.more(e)}>Show more</button></p>`}`}};var bt="own",oe=class extends I{static{this.properties={session:{attribute:!1},query:{attribute:!1}}}static{this.styles=[q,k`
:host { display: flex; flex-direction: column; min-height: 0; }
audit-log-viewer { --audit-height: auto; flex: 1; min-height: 0; }
label { display: flex; align-items: center; gap: 6px; padding: 6px 14px 0; }
`]}get isOwnShown(){return new URLSearchParams(this.query).has(bt)}get viewer(){return this.renderRoot.querySelector("audit-log-viewer")}updated(o){let{viewer:e}=this;if(!e||!o.has("query"))return;let t=U(this.query);z(t)!==e.viewFragment&&e.applyView(t)}onView({detail:{fragment:o}}){let e=U(C().query);if(o===z(e))return;let t=this.hashOf(o,this.isOwnShown);We(e,U(o))?location.replace(t):location.hash=t}onOwn(o){location.hash=this.hashOf(z(U(this.query)),o.target.checked)}hashOf(o,e){let t=new URLSearchParams(o);return e&&t.set(bt,"shown"),_("events",t.toString(),this.session)}render(){let{key:o,project:e,environment:t}=this.session;return n`<label><input type="checkbox" .checked=${this.isOwnShown} @change=${this.onOwn} />Show the service’s own events, such as changes of settings</label>
<audit-log-viewer lang="en" .token=${o} .projectId=${e?.id} .environment=${t} .withoutOwnEvents=${!this.isOwnShown}
@audit-view-changed=${this.onView}></audit-log-viewer>`}};var Qt={action:"document.viewed",category:"access",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe"},target:{id:"doc_7",type:"document",name:"Roadmap"}},ae=class extends m{constructor(){super();this.heading="First steps";this.text="No application has sent an event to this project and environment yet.";this.keys=[],this.key="",this.copy=""}static{this.properties={keys:{state:!0},key:{state:!0},first:{state:!0},copy:{state:!0}}}static{this.styles=[m.styles,k`
:host { padding: 0; overflow: visible; }
ol { display: grid; gap: 10px; padding: 0; list-style: none; counter-reset: step; }
li { counter-increment: step; padding: 10px 14px; border: 1px solid var(--border); border-inline-start: 4px solid var(--control); border-radius: var(--radius); min-width: 0; }
li.done { border-inline-start-color: var(--good); background: var(--good-bg); }
li > h3 { margin: 0 0 6px; } li > h3::before { content: counter(step) ". "; } li.done > h3 { color: var(--good); }
li p:last-child { margin-bottom: 0; }
`]}reload(){return this.key="",this.first=void 0,super.reload()}async load(e,t){let{project:s,environment:i}=this.session,{keys:a}=await e.get("/keys");this.keys=a.filter(l=>!l.revokedAt&&l.environment===i&&(!s||l.project_id===s.id)),this.waitForFirst(t)}async waitForFirst(e){let t=new AbortController;e.addEventListener("abort",()=>t.abort(),{once:!0});let s=new S({...this.session.api.connection,withoutOwnEvents:!0},t.signal),i=async()=>{try{let{events:l}=await s.get("/events",{limit:1});if(l.length===0||t.signal.aborted)return;[this.first]=l,t.abort()}catch(l){if(!A(l))return}};await Je(s,{},{arrived:()=>{i()},connected:l=>{l&&i()},lost:()=>{},ended:()=>{}},t.signal)}createKey(){let{project:e,environment:t,api:s}=this.session;this.change(async()=>{let i={type:"project",project_id:e?.id,name:"first key",environment:t,scopes:["events:write"]};this.key=(await s.send("POST","/keys",i)).key})}get line(){let e=this.key||"$PROJECT_KEY";return`curl -sS ${location.origin}/api/v1/events -H "Authorization: Bearer ${e}" -H 'Content-Type: application/json' -d '${JSON.stringify(Qt)}'`}async copyLine(){this.copy=await V(this.line)?"Copied.":"The browser does not let the page copy: select the line and copy it."}content(){return n`<ol>${this.keyStep()} ${this.eventStep()} ${this.nextStep()}</ol>`}keyStep(){let{isMaster:e,environment:t}=this.session,{length:s}=this.keys,i=s===0?d:n`<p>${s===1?`The key “${this.keys[0]?.name??""}” may be used.`:`${s} keys may be used.`} A key is shown only when it is created.</p>`,a=n`<p>Use the key with which you are signed in, if it may write events.</p>`,l=n`<p><button class=${s===0?"primary":""} ?disabled=${this.isBusy} @click=${()=>this.createKey()}>Create a key that sends ${t} events</button></p>`;return n`<li class=${this.key||s>0?"done":""}><h3>A key</h3>
${this.key?n`<p>The key is in the line below. It is shown only now: store it.</p><pre tabindex="0">${this.key}</pre>`:n`${i} ${e?l:a}`}
    </li>`}eventStep(){let{first:e}=this;return n`<li class=${e?"done":""}><h3>The first event</h3>
${this.key?d:n`<p>The line takes a key from the variable <code>PROJECT_KEY</code>.</p>`}
      <pre tabindex="0">${this.line}</pre>
      <p><button @click=${()=>this.copyLine()}>Copy</button> <span role="status">${this.copy}</span></p>
      <p role="status">${e?n`✓ The first event has arrived: <a href=${this.linkTo("events",{event:e.id})}>${e.action}</a> of ${R(e.actor??{})}, ${u(e.received_at)}.`:n`<span class="spinner">Waiting for the first event …</span>`}</p>
    </li>`}nextStep(){return n`<li><h3>Before real events</h3>
<p>What <a href=${this.linkTo("redaction",{})}>redaction</a> removes is stored nowhere, and what it keeps cannot be removed later: try it with an event of yours.
Then look at the <a href=${this.linkTo("rules",{})}>alert rules</a>, and send alerts to a <a href=${this.linkTo("webhooks",{})}>webhook</a>.</p>
</li>`}};var Zt=["events:write","events:read","alerts","viewer-tokens","admin"],es=86400,le=class extends m{constructor(){super();this.heading="Projects and keys";this.text="A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";this.keys=[],this.masters=[]}static{this.properties={keys:{state:!0},masters:{state:!0}}}async load(e){this.keys=(await e.get("/keys")).keys,this.session.isMaster&&(this.masters=(await e.get("/master-keys")).master_keys)}get isRevokedShown(){return this.named("revoked")!==""}revoke(e,t){this.ask({title:`Revoke the key “${e.name}”`,verb:"Revoke",typed:e.name,text:`Every request with ${e.prefix}… is refused from now on. This cannot be undone. Last used: ${e.lastUsedAt??"never"}.`,run:()=>this.session.api.send("DELETE",`${t}/${e.id}`)})}rotate(e,t){this.ask({title:`Replace the key “${e.name}”`,verb:"Replace",text:"A new key with the same limits is created. The old one ends in 24 hours.",run:async()=>{let{key:s}=await this.session.api.send("POST",`${t}/${e.id}/rotate`,void 0,{overlap:es});this.reveal(`The key that replaces “${e.name}”`,s)}})}renameKey(e){this.ask({title:`Rename the key “${e.name}”`,verb:"Rename",text:"The key itself stays as it is.",name:e.name,run:t=>this.session.api.send("PATCH",`/keys/${e.id}`,{name:t})})}renameProject(e){this.ask({title:`Rename the project “${e.name}”`,verb:"Rename",text:"Its keys, events and log stay as they are.",name:e.name,run:t=>this.changeProject(e,{name:t})})}archive(e){let t=e.archived_at!==void 0;this.ask({title:`${t?"Unarchive":"Archive"} the project “${e.name}”`,verb:t?"Unarchive":"Archive",text:t?"It takes events again.":"It takes no events from now on: applications that send some get an error. Reading, proofs and settings stay possible, and it can be unarchived.",run:()=>this.changeProject(e,{archived:!t})})}editFilters(e){this.ask({title:`Metadata filters of the project “${e.name}”`,verb:"Store",text:"The members of metadata by which events can be filtered, such as metadata.order.id. They apply to all events, also to those that are stored already.",list:{label:"Paths, one per line",items:e.metadata_filter_paths??[]},run:t=>this.changeProject(e,{metadata_filter_paths:$(t,/\n/)})})}async changeProject({id:e},t){let{project:s}=await this.session.api.send("PATCH",`/projects/${e}`,t);this.dispatchEvent(new CustomEvent("project-changed",{detail:s,bubbles:!0,composed:!0}))}async create(e,t){let s=e.target,{networks:i,expires_at:a,...l}=v(e),c=new FormData(s).getAll("scopes"),{scopes:p,...h}=l,f={...h,...t==="/keys"?{type:"project",project_id:this.session.project?.id}:{},...c.length>0?{scopes:c}:{},...i?{networks:$(i)}:{},...a?{expires_at:new Date(a).toISOString()}:{}},b=async()=>{let{key:E}=await this.session.api.send("POST",t,f);this.reveal(`The key “${l.name??""}”`,E)};await this.change(b)&&s.reset()}async createProject(e){let t=e.target,s=v(e),i=async()=>{let{project:a}=await this.session.api.send("POST","/projects",s);this.dispatchEvent(new CustomEvent("project-created",{detail:a,bubbles:!0,composed:!0}))};await this.attempt(i,`Project ${s.name??""} created.`)&&t.reset()}rows(e,t){return e.filter(i=>this.isRevokedShown||!i.revokedAt).map(i=>n`<tr>
<th scope="row">${i.name}</th>
<td><code>${i.prefix}…</code></td>
<td>${i.environment??"all projects"}</td>
<td>${i.scopes?.join(", ")??"everything"}${i.networks?n`<br /><span class="muted">from ${i.networks.join(", ")}</span>`:d}</td>
      <td>${u(i.lastUsedAt)}${i.lastUsedFrom?n`<br /><span class="muted">${i.lastUsedFrom}</span>`:d}</td>
      <td>${i.revokedAt?n`<span class="badge failed">revoked</span>`:i.expiresAt?n`until ${u(i.expiresAt)}`:"no end"}</td>
      <td class="actions">
        ${i.revokedAt?d:n`
${this.session.isMaster&&t==="/keys"?n`<button @click=${()=>this.renameKey(i)}>Rename</button>`:d}
          ${this.session.isMaster?n`<button @click=${()=>this.rotate(i,t)}>Replace</button>`:d}
          <button class="danger" @click=${()=>this.revoke(i,t)}>Revoke</button>`}
      </td>
    </tr>`)}projectRows(e){return e.map(t=>n`<tr>
<th scope="row">${t.name}</th>
<td><code>${t.id}</code></td>
<td>${u(t.created_at)}</td>
<td>${u(t.archived_at)}</td>
<td>${t.metadata_filter_paths?.join(", ")??"–"}</td>
<td class="actions">
<button @click=${()=>this.renameProject(t)}>Rename</button>
<button @click=${()=>this.editFilters(t)}>Metadata filters</button>
<button @click=${()=>this.archive(t)}>${t.archived_at?"Unarchive":"Archive"}</button>
</td>
</tr>`)}content(){let e=["Name","Key","Environment","May","Last used","Ends",""],{isMaster:t,project:s,projects:i}=this.session,a=this.keys.filter(l=>!s||l.project_id===s.id);return n`
<label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${()=>this.go({revoked:this.isRevokedShown?void 0:"shown"})} /> Show revoked keys</label>
<h3>Keys of the project ${s?.name??""}</h3>
${this.table(e,this.rows(a,"/keys"),"No keys.")}
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
      ${Zt.map(s=>n`<label class="check"><input type="checkbox" name="scopes" value=${s} />${s}</label>`)}
      <button class="primary">${t}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`}};var de=r=>fetch("/metrics",{cache:"no-store",signal:r}).then(o=>o.ok?o.text():"",()=>"");function W(r,o){let e=r.matchAll(new RegExp(`^${o}(\\{.*\\})? (\\S+)$`,"gm"));return Array.from(e,([,t="",s])=>({labels:t,value:Number(s)}))}var je=100;function De(r,o){let e=[],t=[],s=i=>i?.startsWith("— ")??!1;for(let i of r.replaceAll("\r","").split(`
`))s(t.at(-1))&&!s(i)&&(e.push(`${t.join(`
`)}
`),t=[]),(t.length>0||i!=="")&&t.push(i);return t.length>0&&e.push(`${t.join(`
`).trimEnd()}
`),e.map((i,a)=>({note:i,source:e.length>1?`${o}, ${a+1}`:o}))}async function ts(r,o,e){let[t,s]=[o.size,e.size];if(o.origin!==e.origin)throw new Error(`it is one of another log: ${o.origin}`);if(t>s)throw new Error(`the log had ${t} events and has ${s} now: events were removed`);let{consistency:i}=t===s?{consistency:[]}:await r.get("/log/consistency",{from:t,to:s});await Ve({from:o,to:e,hashes:ze(i,"the consistency proof")})}async function Ce(r,o,e,t){let s=[];for(let{note:i,source:a}of o){let l,c="";try{l=await G(i,t),await ts(r,l,e)}catch(p){if(A(p))throw p;c=p instanceof Error?p.message:String(p)}s.push({source:a,size:l?.size,root:l?J(l.root):"",fault:c})}return s.sort((i,a)=>(i.size??0)-(a.size??0))}var ss={time_stamp:"a time-stamp authority",webhook:"the webhook",bucket:"the bucket",directory:"the directory"};function $t(r,o){let e=Math.max(0,r.split(`
`).filter(s=>s.startsWith("— ")).length-1);return[e===0?"No witness has cosigned this checkpoint.":`Cosignatures of witnesses on this checkpoint: ${e}. audit-server log audit verifies them.`,...is(o)]}function is(r){let[o]=W(r,"audit_anchor_last_timestamp_seconds");if(!o)return["This address does not show the metrics of the server, so this page does not know whether the server makes anchors."];if(o.value===0)return["This server has made no anchor: a signed list of the heads of all logs, sent outside every hour."];let t=W(r,"audit_anchors_pending").filter(({value:i})=>i>0).map(({labels:i,value:a})=>`${ss[/place="(\w+)"/.exec(i)?.[1]??""]??"a place"} lacks ${a}`);return[`The latest anchor is of ${new Date(o.value*1e3).toLocaleString()}. ${t.length===0?"All places have all anchors.":`Anchors not sent yet: ${t.join(", ")}.`}`]}var ns=20,yt=new Intl.NumberFormat,ce=class extends m{constructor(){super();this.seen=[];this.note="";this.key="";this.rotations="";this.metrics="";this.heading="The verifiable log";this.text="Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";this.checked={text:"",isGood:!1},this.history=[]}static{this.properties={checked:{state:!0},history:{state:!0}}}async load(e,t){let s=this.note;[this.note,this.key,this.rotations,this.metrics]=await Promise.all([e.text("/log/checkpoint"),e.text("/log/key"),e.text("/log/key/rotations"),de(t)]);try{this.checkpoint=await G(this.note,this.key),this.checked={text:"The signature was verified in this browser, with the key below.",isGood:!0},await this.remember(e,s,this.checkpoint)}catch(i){if(A(i))throw i;this.checkpoint=void 0,this.checked={text:`The signature was not verified: ${i instanceof Error?i.message:String(i)}`,isGood:!1}}}async remember(e,t,s){let i=({note:c})=>c.startsWith(`${s.origin}
`),a={note:t,source:`read before ${new Date().toLocaleTimeString()}`},l=t&&t!==this.note?[...this.seen,a]:this.seen;this.seen=l.filter(i).slice(-ns),this.history=await Ce(e,this.seen,s,this.key)}async compare(e){let t=e.target,{earlier:s="",key:i=""}=v(e),a=t.elements.namedItem("files").files??[];await this.attempt(async()=>{let l=await Promise.all(Array.from(a,async p=>De(await p.text(),p.name))),c=[...De(s,"entered"),...l.flat()];if(!this.checkpoint)throw new Error("The present checkpoint is not verified.");if(c.length===0)throw new Error("Enter a checkpoint, or choose files that have some.");if(c.length>je)throw new Error(`There are ${c.length} checkpoints; at most ${je} are verified at once.`);this.history=await Ce(this.apiUntil(this.loading.signal),[...c,...this.seen],this.checkpoint,i||this.key)})}async evidence(){await this.attempt(async()=>{let t=await(await this.apiUntil(this.loading.signal).fetch("GET","/events/export")).blob();M(t,"events.jsonl"),M(new Blob([this.note],{type:"text/plain"}),"checkpoint.txt"),M(new Blob([this.key],{type:"text/plain"}),"key.txt")},"Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.")}content(){let{checkpoint:e,checked:t}=this;return n`
${(({text:i,isGood:a})=>n`<div class="notice ${a?"good":"bad"}" role=${a?"status":"alert"}>${a?"✓":"✗"} ${i}</div>`)(t)}
${e?n`<div class="cards">
            <div class="card"><b>${yt.format(e.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${J(e.root)}</code><br />Log <code>${e.origin}</code></p>`:d}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim()?n`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>`:d}
      <div class="bar"><button @click=${()=>this.reload()}>Read again</button><button @click=${()=>this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>History</h3>
      <p class="muted">The present checkpoint continues an earlier one if no event before it was changed, removed or inserted. Verify those that you have stored:
        a file may have several. This server keeps the latest checkpoint only, because earlier ones prove something only where nobody who can change the log can
        change them.</p>
      <ul>${$t(this.note,this.metrics).map(i=>n`<li>${i}</li>`)}</ul>
      ${this.historyTable()}
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoints<textarea name="earlier" rows="6" spellcheck="false"></textarea></label>
        <label>Files<input name="files" type="file" multiple /></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
    `}historyTable(){let e=this.history.map(({source:t,size:s,root:i,fault:a})=>n`<tr>
<td>${s===void 0?"–":yt.format(s)}</td><td><code>${i.slice(0,16)}</code></td><td>${t}</td>
<td>${a?n`<div class="notice bad" role="alert">✗ ${a}</div>`:n`<div class="notice good">✓ continued by the present checkpoint</div>`}</td>
    </tr>`);return this.table(["Events","Root","From","Outcome"],e,"No earlier checkpoint yet.")}};var Ne=30,rs=20,wt=8,L=new Intl.NumberFormat,os=[{metric:"audit_webhook_deliveries_pending",label:"deliveries pending, all projects",path:"webhooks"},{metric:"audit_destination_lag_events",label:"events that a destination lacks, all projects",path:"destinations"},{metric:"audit_store_queue_depth",label:"requests in the write queue"},{metric:"audit_index_backlog_events",label:"events not yet indexed"},{metric:"audit_store_events_to_rebuild",label:"events to index again"},{metric:"audit_database_bytes",label:"database",isBytes:!0},{metric:"audit_database_index_bytes",label:"index, part of the database",isBytes:!0},{metric:"audit_database_wal_bytes",label:"write-ahead log",isBytes:!0}];function as({events_today:{count:r,max:o}}){return o===null?L.format(r):`${L.format(r)} of ${L.format(o)}`}var pe=class extends m{constructor(){super(...arguments);this.heading="Overview";this.text=`The last ${Ne} days of this project, and the state of the server.`;this.readiness="";this.metrics="";this.plan=null;this.erasures=[];this.names=new Map;this.isEmpty=!1;this.formats=new Ke(navigator.language,ye,!1)}static{this.properties={}}static{this.styles=[m.styles,k`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`]}async load(e,t){let s=new Date(Date.now()-Ne*864e5).toISOString(),{isMaster:i}=this.session,[a,l,c,p,h,f,b,E,w]=await Promise.all([y(Ge(e,{start_date:s,interval:"day",not_tenant_id:F},this.formats.zone,t)),y(e.get("/alerts",{status:"open",limit:rs})),y(e.text("/log/checkpoint")),y(e.get("/usage")),fetch("/readyz",{cache:"no-store",signal:t}).then(Ot=>Ot.ok,()=>!1),de(t),y(e.get("/events",{not_tenant_id:F,limit:1})),i?y(e.get("/retention")):void 0,i?y(e.get("/erasures")):void 0]);this.plan=E?.plan??null,this.erasures=w?.erasures.filter(ht)??[],this.summary=a,this.readNames(e),this.isEmpty=b?.events.length===0&&!b.has_more&&!this.session.project?.archived_at,this.usage=p?.usage,this.openAlerts=l&&`${l.alerts.length}${l.has_more?"+":""}`,this.logSize=c===void 0?void 0:Number(c.split(`
`)[1]),this.readiness=h?"ready":"not ready",this.metrics=f}async readNames(e){let t=(this.summary?.top.actor_id??[]).slice(0,wt).map(({value:i})=>i),s=await Promise.all(t.map(i=>e.get("/events",{actor_id:i,limit:1}).catch(()=>{})));this.names=new Map(t.map((i,a)=>[i,s[a]?.events[0]?.actor?.name??""])),this.requestUpdate()}gauges(){return os.flatMap(({metric:e,label:t,path:s,isBytes:i})=>{let[a]=W(this.metrics,e);return a?[this.card(t,i?this.formats.bytes(a.value):a.value,s&&this.linkTo(s,{}))]:[]})}removals(){let{plan:e,erasures:t}=this,[s]=t.flatMap(({state:i,not_before:a})=>i==="planned"&&a?[a]:[]).sort();return n`
${e?n`<p class="notice"><a href=${this.linkTo("retention",{})}>${L.format(e.events)} events</a> will be removed, not before ${u(e.not_before)}.</p>`:d}
      ${t.length>0?n`<p class="notice"><a href=${this.linkTo("erasures",{})}>${t.length===1?"1 erasure is":`${t.length} erasures are`} open</a>${s?n`; events will be erased, not before ${u(s)}`:d}.</p>`:d}`}card(e,t,s){if(t===void 0)return d;let i=s?n`<a href=${s}>${e}</a>`:n`<span class="muted">${e}</span>`;return n`<div class="card"><b>${typeof t=="number"?L.format(t):t}</b>${i}</div>`}content(){let{summary:e}=this,t=D.map(s=>[s,e?.buckets.reduce((i,a)=>i+(a.categories?.[s]??0),0)??0]);return n`
${this.isEmpty?n`<console-first-steps .session=${this.session}></console-first-steps>`:d}
      ${this.removals()}
      <div class="cards">
        ${this.card(`events in ${Ne} days`,e?.total,this.linkTo("events",{}))} ${this.card("events in the log",this.logSize,this.linkTo("log",{}))}
        ${this.card("open alerts",this.openAlerts,this.linkTo("alerts",{}))} ${this.card("server",this.readiness)}
        ${this.usage?this.card("live events today",as(this.usage),this.linkTo("usage",{})):d} ${this.gauges()}
      </div>
      ${e?n`<h3>Events per day</h3>
<div class="chart"><audit-log-histogram .summary=${e} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
<h3>By category</h3>
<div class="cards">${t.map(([s,i])=>this.card(ye.categories[s]??s,i,this.linkTo("events",{category:s})))}</div>
${this.top("Most frequent actions","action",e)} ${this.top("Most active actors","actor_id",e)}
${this.top("Tenants","tenant_id",e)}`:d}
    `}onZoom(e){location.hash=this.linkTo("events",{start_date:e.detail.start,end_date:e.detail.end})}top(e,t,{top:s}){let i=(s[t]??[]).slice(0,wt).map(({value:a,count:l})=>n`<tr><td><a href=${this.linkTo("events",{[t]:a})}>${t==="actor_id"?R({id:a,name:this.names.get(a)??""}):g(a)}</a></td><td>${L.format(l)}</td></tr>`);return n`<h3>${e}</h3><p class="muted">Among the newest ${L.format(s.looked_at)} events.</p>${this.table(["Value","Events"],i,"None.")}`}};var kt=65536,ls=3600,he=class extends m{constructor(){super();this.heading="Portal";this.text="The portal shows the customers of this project their own events, under this name and logo.";this.look=Ue}static{this.properties={look:{state:!0}}}static{this.styles=[m.styles,k`.look { display: flex; align-items: center; gap: 12px; margin: 12px 0; } .look img { max-height: 48px; max-width: 200px; }`]}async load(e){this.look=await Be(e)}storeKinds(e){e.preventDefault();let t=new FormData(e.target).getAll("kinds").map(String);this.store({destination_kinds:t.length===Object.keys(P).length?null:t},"The kinds were stored.")}store(e,t){return this.change(()=>this.session.api.send("PATCH","/portal",e),t)}async onLogo(e){let t=e.target,s=t.files?.[0];if(!s)return;let i=await ds(s);await this.attempt(()=>{if(s.size>kt)throw new Error(`The file has ${s.size} bytes; at most ${kt} are possible.`);if(!He(i))throw new Error("The logo must be a PNG, JPEG or WebP image.");return Promise.resolve()}),this.failure||await this.store({logo:i},"The logo was stored."),t.value=""}async link(e){let{tenant_id:t="",tier:s=""}=v(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:ls,portal:!0},{portal_url:a}=await this.session.api.send("POST","/viewer-tokens",i);this.reveal(`The portal of ${t}, for an hour`,a)})}content(){let{look:e}=this,{isMaster:t}=this.session;return n`${this.masterOnly()}
<div class="look">${e.logo?n`<img src=${e.logo} alt="Logo" />`:n`<span class="muted">no logo</span>`}<b>${e.name??"Audit log"}</b></div>
      ${t?n`<form class="inline" @submit=${s=>this.store({name:v(s).name??null},"The name was stored.")}>
<label class="wide">Name (empty: “Audit log”)<input name="name" maxlength="100" .value=${e.name??""} /></label>
<button class="primary">Store name</button>
</form>
<form class="inline" @submit=${s=>s.preventDefault()}>
<label class="wide">Logo: PNG, JPEG or WebP, at most 64 KiB<input type="file" accept="image/png,image/jpeg,image/webp" @change=${this.onLogo} /></label>
${e.logo?n`<button @click=${()=>this.store({logo:null},"The logo was removed.")}>Remove logo</button>`:d}
            </form>
            <form class="inline" @submit=${this.storeKinds}>
              <fieldset><legend>Destinations that tenants may create, if their tier has destinations</legend>
                ${Object.entries(P).map(([s,{label:i}])=>n`<label class="check"><input type="checkbox" name="kinds" value=${s} .checked=${e.destination_kinds.includes(s)} />${i}</label>`)}
              </fieldset>
              <button class="primary">Store kinds</button>
            </form>
            <p class="muted">Links to the portal are made with a live project key.</p>`:n`<h3>Link to the portal</h3>
<p>Whoever has the link can read the events of the tenant for an hour.</p>
<form class="inline" @submit=${this.link}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">Create link</button>
</form>`}`}};function ds(r){return new Promise((o,e)=>{let t=new FileReader;t.onload=()=>o(String(t.result)),t.onerror=()=>e(t.error??new Error("the file cannot be read")),t.readAsDataURL(r)})}var xt=["replace","hash","mask"],cs=300,ps={action:"user.created",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe",email:"jane@example.com"},metadata:{note:"paid with 4111 1111 1111 1111, call +1 415 555 0132",header:"Bearer abcdef123456",ok:"fine"}},ue=class extends m{constructor(){super();this.event=O(ps);this.heading="Redaction";this.text="Rules remove personal data and secrets before an event is stored. A change applies to the next request; stored events do not change.";this.rules=[],this.fault="",this.type="pattern"}static{this.properties={rules:{state:!0},tested:{state:!0},fault:{state:!0},type:{state:!0}}}async load(e){this.rules=(await e.get("/redaction/rules")).rules,await this.test(e)}onInput(e){this.event=e.target.value,clearTimeout(this.typing),this.typing=setTimeout(()=>{this.test()},cs)}async test(e=this.session.api){let t;try{t=JSON.parse(this.event)}catch(s){this.fault=s instanceof Error?s.message:"not JSON";return}this.fault="",await this.attempt(async()=>{this.tested=await e.send("POST","/redaction/test",{event:t})})}amend(e,t){this.change(()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,t),`${e.name}: changed.`)}toggle(e,t){if(t.checked)return this.amend(e,{enabled:!0});t.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:"From the next request on, what this rule finds is stored as it was sent, and it cannot be removed from the log later.",run:()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"From the next request on, what this rule finds is stored as it was sent. The rule cannot be restored.",run:()=>this.session.api.send("DELETE",`/redaction/rules/${e.id}`)})}async onSubmit(e){let t=e.target,{fields:s,...i}=v(e),a=i.type==="field_redact"?{...i,fields:$(s)}:i;await this.change(()=>this.session.api.send("POST","/redaction/rules",a),`${i.name??""}: created.`)&&t.reset()}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>n`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${i=>this.toggle(s,i.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?n`<span class="badge">built-in</span>`:d}</th>
      <td><code>${s.pattern??s.fields?.join(", ")??""}</code></td>
      <td><select aria-label="Behavior of ${s.name}" ?disabled=${!e} @change=${i=>this.amend(s,{behavior:i.target.value})}>
        ${xt.map(i=>n`<option .selected=${i===s.behavior}>${i}</option>`)}</select></td>
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
<tbody>${St(e.original,e.redacted).map(([t,s,i])=>n`<tr><th scope="row"><code>${t}</code></th><td>${Tt(s,i,"removed")}</td><td>${Tt(i,s,"after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${e.metadata.redacted_rules.join(", ")} · ${e.metadata.rules_evaluated} rules</p>`:e?n`<p>Nothing is removed from this event.</p>`:d}
        </div>
      </div>`}form(){return n`<h3>New rule</h3>
<form class="inline" @submit=${this.onSubmit}>
<label>Type<select name="type" @change=${e=>this.type=e.target.value}>
<option value="pattern">pattern</option><option value="field_redact">fields</option></select></label>
<label>Name<input name="name" required maxlength="100" /></label>
${this.type==="pattern"?n`<label class="wide">Pattern (regular expression)<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`:n`<label class="wide">Paths, separated by commas<input name="fields" required placeholder="**.ssn, actor.email" spellcheck="false" /></label>`}
        <label>Behavior<select name="behavior">${xt.map(e=>n`<option>${e}</option>`)}</select></label>
        <button class="primary">Create rule</button>
      </form>`}};function St(r,o,e=""){let t=a=>typeof a=="object"&&a!==null&&!Array.isArray(a);if(!t(r)||!t(o))return[[e,_t(r),_t(o)]];let s=[...new Set([...Object.keys(r),...Object.keys(o)])],i=(a,l)=>Object.hasOwn(a,l)?a[l]:void 0;return s.flatMap(a=>St(i(r,a),i(o,a),e?`${e}.${a}`:a))}function _t(r){return r===void 0?"":typeof r=="string"?r:O(r)}function Tt(r,o,e){let t=0;for(;t<r.length&&r[t]===o[t];)t+=1;let s=0;for(;s<r.length-t&&s<o.length-t&&r.at(-1-s)===o.at(-1-s);)s+=1;let i=r.slice(t,r.length-s);return n`${r.slice(0,t)}${i?n`<mark class=${e}>${i}</mark>`:d}${r.slice(r.length-s)}`}var hs={received_before:{},months:[],events:0,destinations_behind:[],archived:!0},T=new Intl.NumberFormat,us={pci:"PCI DSS: 365 days",hipaa:"HIPAA: 2,190 days",cnil:"CNIL: 335 days"},ms={confirmation:"The log is far behind its policy. Confirm up to which time plans may remove events.",clock:"The clock of the server was changed, or the server was stopped for long. It plans again after 24 hours, or when you confirm.",time_stamp:"The newest time stamp of an anchor is too old.",signature:"The event of the plan is not signed yet.",quorum:"The checkpoint has no quorum of witnesses yet.",destination:"A destination has not got all events of the plan yet.",archive:"No recorded archive has all events of the plan yet. Run audit-server archive create --record."},me=class extends m{constructor(){super();this.heading="Retention";this.text="How long the events of this project and environment are kept, and legal holds. Each removal is first an event of the log: what is left can still be verified.";this.holds=[]}static{this.properties={retention:{state:!0},holds:{state:!0},preview:{state:!0}}}get isReleasedShown(){return this.named("released")!==""}async load(e){if(!this.session.isMaster)return;this.preview=void 0;let t=this.isReleasedShown?{released:"true"}:{},[s,{holds:i}]=await Promise.all([e.get("/retention"),e.get("/holds",t)]);this.retention=s,this.holds=i}async look(e){let{days:t,preset:s,categories:i,archive:a}=v(e),l=s?{preset:s}:t?{days:Number(t)}:void 0,c=$(i).map(p=>p.split(/\s*[:=]\s*/)).map(([p="",h])=>[p,Number(h)]);await this.attempt(async()=>{let p=l?await this.session.api.get("/retention/preview",l):hs;this.preview={policy:{...l,...c.length>0?{categories:Object.fromEntries(c)}:{},...a?{archive:!0}:{}},found:p}})}store(e,t){this.ask({title:"Store the policy",verb:"Store",...t>0?{typed:`${t}`}:{},text:t>0?`About ${T.format(t)} events are old enough and will be removed, after a plan and its grace period. ${e.archive?"They go once an archive has them.":"Without an archive, removed events cannot be restored."}`:"No event is old enough to be removed now.",run:()=>this.session.api.send("PUT","/retention",e)})}cancel(e){this.ask({title:`Cancel the plan ${e}`,verb:"Cancel the removal",text:"Its events stay. While the policy is the same, the next plan is made after a day.",run:()=>this.session.api.send("POST","/retention/cancel",{plan:e})})}async confirm(e){let{until:t=""}=v(e);await this.change(()=>this.session.api.send("POST","/retention/confirm",{until:new Date(t).toISOString()}),"Confirmed.")}async place(e){let t=e.target,{from:s,to:i,second_key:a,...l}=v(e),c=(h,f)=>f?{[h]:new Date(f).toISOString()}:{},p={...l,...c("from",s),...c("to",i),...a?{second_key:!0}:{}};await this.change(()=>this.session.api.send("POST","/holds",p),"The hold was placed.")&&t.reset()}release(e){this.ask({title:`Release the hold ${e.id}`,verb:"Release",list:{label:"Reason",items:[]},text:"The events that it covers follow the retention policy again. The reason becomes part of the log.",run:t=>this.session.api.send("POST",`/holds/${e.id}/release`,{reason:t})})}async report(e){await this.attempt(async()=>{let t=await this.apiUntil(this.loading.signal).fetch("GET","/log/report",{parameters:{format:e}});M(await t.blob(),`retention-report.${e}`)},e==="html"?"Saved: retention-report.html. Open it and print it.":"Saved: retention-report.json.")}content(){let{retention:e}=this;return!this.session.isMaster||!e?n`<p class="notice">Retention and holds need a master key.</p>`:n`${this.cards(e)} ${this.plan(e)} ${this.form(e)} ${this.effect()} ${this.removals(e)} ${this.holdList()} ${this.reports()}`}cards({policy:e,archive:t,removed:s}){let i=e?.days?`${T.format(e.days)} days`:"for ever",a=Object.entries(e?.categories??{}).map(([l,c])=>`${l} ${T.format(c)} days`);return n`<div class="cards">
<div class="card"><b>${i}</b><span class="muted">${e?n`since ${u(e.since)}`:"no policy"}${a.length>0?n`; ${a.join(", ")}`:d}</span></div>
      <div class="card"><b>${T.format(s)}</b><span class="muted">events removed</span></div>
      ${t?n`<div class="card"><b>${T.format(t.end_seq)}</b><span class="muted">positions archived, recorded ${u(t.at)}</span></div>`:d}
    </div>`}plan({plan:e,waiting_for:t}){let s=t?n`<p class="notice">${ms[t]??t}</p>`:d,i=t==="confirmation"||t==="clock"?n`<form class="inline" @submit=${this.confirm}><label>Remove up to<input name="until" type="datetime-local" required /></label><button>Confirm</button></form>`:d;return e?n`<h3>Plan ${e.seq}</h3>
<p>${T.format(e.events)} events that were received before ${u(e.received_before.default)} will be removed, not before ${u(e.not_before)}.
${T.format(e.held)} are held, ${T.format(e.kept)} stay for other reasons.</p>
${s} ${i}
<div class="bar"><button class="danger" @click=${()=>this.cancel(e.seq)}>Cancel this plan</button></div>`:n`${s} ${i}`}form({policy:e,minimum_days:t}){let s=Object.entries(e?.categories??{}).map(([i,a])=>`${i}: ${a}`);return n`<h3>Policy</h3>
<form class="inline" @submit=${this.look}>
<label>Preset<select name="preset"><option value="">none</option>${Object.entries(us).map(([i,a])=>n`<option value=${i} ?selected=${e?.preset===i}>${a}</option>`)}</select></label>
        <label>Days (empty: for ever)<input name="days" type="number" min=${t} max="36500" .value=${e?.days&&!e.preset?`${e.days}`:""} /></label>
        <label class="wide">Longer for categories<input name="categories" .value=${s.join(", ")} placeholder="security: 2190, admin: 730" /></label>
        <label class="check"><input type="checkbox" name="archive" value="yes" ?checked=${e?.archive??!1} /> Remove what a recorded archive has, only</label>
        <button class="primary">Preview</button>
      </form>`}effect(){let{preview:e}=this;if(!e)return n``;let{policy:t,found:s}=e,i=s.months.map(a=>n`<tr>
<th scope="row">${a.month}</th><td>${T.format(a.events)}</td><td>${T.format(a.to_remove)}</td><td>${T.format(a.held)}</td><td>${T.format(a.kept)}</td>
</tr>`);return n`<h3>Effect of the policy, estimated</h3>
${t.categories?n`<p class="muted">The categories that are kept longer are not part of the estimate: fewer events go.</p>`:d}
      ${s.destinations_behind.length>0?n`<p class="notice">${s.destinations_behind.length} destinations have not got all of these events yet.</p>`:d}
      ${t.archive&&!s.archived?n`<p class="notice">No recorded archive has all of these events yet.</p>`:d}
      ${this.table(["Month","Events","Removed","Held","Kept"],i,"No event is old enough to be removed.")}
      <div class="bar"><button class="primary" @click=${()=>this.store(t,s.events)}>Store this policy</button></div>`}removals({removals:e}){let t=e.map(({seq:s,at:i,events:a,received_before:l,state:c})=>n`<tr>
<th scope="row">${s}</th><td>${u(i)}</td><td>${T.format(a)}</td><td>${u(l.default)}</td><td><span class="badge">${c??"unknown"}</span></td>
</tr>`);return n`<h3>Removals</h3>${this.table(["Position","Authorised","Events","Received before","State"],t,"Nothing was removed.")}`}reports(){return n`<h3>Report</h3>
<p class="muted">For auditors: the policies, removals, erasures and holds of this log, as its events say.</p>
<div class="bar"><button @click=${()=>this.report("json")}>Save as JSON</button><button @click=${()=>this.report("html")}>Save to print</button></div>`}holdList(){let e=s=>[["tenant",s.tenant_id[0]],["actor",s.actor_id[0]],["target",s.target_id[0]]].flatMap(([a,l])=>l===void 0?[]:[`${a} ${l}`]).join(", ")||"all events",t=this.holds.map(s=>n`<tr>
<th scope="row">${g(s.reason)}<br /><span class="muted">${s.id}</span></th><td>${g(e(s))}</td><td>${u(s.from)}</td><td>${u(s.to)}</td><td>${u(s.placed_at)}</td>
<td>${s.released_at?n`released ${u(s.released_at)}`:s.second_key?"needs a second key":"in force"}</td>
      <td class="actions">${s.released_at?d:n`<button class="danger" @click=${()=>this.release(s)}>Release</button>`}</td>
    </tr>`);return n`<h3>Legal holds</h3>
<label class="check"><input type="checkbox" .checked=${this.isReleasedShown} @change=${()=>this.go({released:this.isReleasedShown?void 0:"shown"})} /> Show released holds</label>
${this.table(["Reason","Covers","From","To","Placed","State",""],t,"No holds.")}
<form class="inline" @submit=${this.place}>
<label class="wide">Reason<input name="reason" required maxlength="500" /></label>
<label>Tenant<input name="tenant_id" maxlength="256" /></label><label>Actor<input name="actor_id" maxlength="256" /></label><label>Target<input name="target_id" maxlength="256" /></label>
<label>From<input name="from" type="datetime-local" /></label><label>To<input name="to" type="datetime-local" /></label>
<label class="check"><input type="checkbox" name="second_key" value="yes" /> Another key must release it</label>
<button class="primary">Place hold</button>
<span class="muted">A hold covers the events that meet every condition, and all events without one.</span>
</form>`}};var ge=class extends m{constructor(){super(...arguments);this.heading="Streams";this.text="A client without an account sends events to a stream, which its token names. A claim moves them into this project."}static{this.properties={info:{state:!0},token:{state:!0}}}load(){return Promise.resolve()}async look(e){this.token=v(e).token??"",this.info=void 0,await this.attempt(async()=>{this.info=await this.apiUntil(this.loading.signal).get(`/streams/${encodeURIComponent(this.token)}/info`)})}claim(){let{token:e}=this;this.ask({title:"Claim the stream",verb:"Claim",text:`Its ${this.info?.event_count??0} events move into the project ${this.session.project?.name??""}, redacted by its rules. The token can never be used again.`,run:async()=>{await this.session.api.send("POST","/streams/claim",{claim_token:e}),this.info=void 0}})}content(){if(!this.session.isMaster)return n`<p class="notice">Claiming needs a master key.</p>`;let{info:e}=this;return n`<form class="inline" @submit=${this.look}>
<label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
<button class="primary">Look up</button>
</form>
${e?n`<p>${e.event_count} events, ${e.status}, created ${u(e.created_at)}, ends ${u(e.expires_at)}</p>
            <button class="primary" ?disabled=${e.status!=="active"} @click=${()=>this.claim()}>Claim into this project</button>`:""}`}};var Rt=["event","summary","feed","export","proofs"],Le="destinations",gs=600,ve=class extends m{constructor(){super();this.heading="Viewer tiers";this.text="A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";this.tiers=[]}static{this.properties={tiers:{state:!0},seen:{state:!0}}}get draft(){return this.tiers.find(({name:e})=>e===this.named("tier"))}async load(e){this.session.isMaster&&(this.tiers=(await e.get("/viewer-tiers")).viewer_tiers)}async onSubmit(e){let t=e.target,s=v(e),i=new FormData(t),a=(b,E)=>i.getAll(b).length===E.length?null:i.getAll(b),l=$(s.actions),c={categories:a("categories",D),actions:l.length>0?l:null,hidden_fields:$(s.hidden_fields),routes:Rt.every(b=>i.getAll("routes").includes(b))&&!i.getAll("routes").includes(Le)?null:i.getAll("routes")},{api:p}=this.session,{draft:h}=this,f=()=>h?p.send("PATCH",`/viewer-tiers/${h.name}`,c):p.send("POST","/viewer-tiers",{name:s.name,...c});await this.change(f,"The tier was stored.")&&this.go({tier:void 0},"The tier was stored.")}confirmRemoval(e){this.ask({title:`Delete the tier “${e.name}”`,verb:"Delete",typed:e.name,text:"All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/viewer-tiers/${e.name}`)})}async see(e){let{tenant_id:t="",tier:s=""}=v(e);await this.attempt(async()=>{let i={tenant_id:t,...s?{tier:s}:{},expires_in:gs},{token:a}=await this.session.api.send("POST","/viewer-tokens",i);this.seen={token:a,tenant:t,tier:s||"standard"}})}content(){return n`${this.session.isMaster?this.administration():this.lookAs()}`}lookAs(){return n`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
<form class="inline" @submit=${this.see}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">See as this tenant</button>
</form>
${this.seen?n`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`:d}`}administration(){let e=(s,i)=>s===null?i:s.length>0?s.join(", "):"none",t=this.tiers.map(s=>n`<tr>
<th scope="row">${s.name}</th><td>${e(s.categories,"all")}</td><td>${e(s.actions,"all")}</td>
<td>${e(s.hidden_fields,"")}</td><td>${e(s.routes,"all")}</td>
<td class="actions"><button @click=${()=>this.go({tier:s.name})}>Edit</button> <button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button></td>
</tr>`);return n`${this.table(["Tier","Categories","Actions","Hidden fields","Reads",""],t,"No tiers.")} ${this.form()}
<p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`}form(){let{draft:e}=this,t=(s,i,a)=>n`<fieldset><legend>${i}</legend>
${a.map(l=>n`<label class="check"><input type="checkbox" name=${s} value=${l} .checked=${e?.[s]?.includes(l)??l!==Le} />${l}</label>`)}
    </fieldset>`;return n`<h3>${e?`Edit ${e.name}`:"New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${e?d:n`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${e?.hidden_fields.join(", ")??""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${e?.actions?.join(", ")??""} placeholder="auth.*, document.*" /></label>
        ${t("categories","Categories",D)} ${t("routes","Reads; destinations: creates those of its tenant, and needs a tier that hides nothing",[...Rt,Le])}
        <button class="primary">${e?"Store changes":"Create tier"}</button>
        ${e?n`<button type="button" class="plain" @click=${()=>this.go({tier:void 0})}>Cancel</button>`:d}
      </form>`}};var fe=new Intl.NumberFormat,vs={free:"Free",pro:"Pro",enterprise:"Enterprise"},be=class extends m{constructor(){super(...arguments);this.heading="Usage and plan";this.text="The limits of the plan and of the service, and how far this project uses them. The operator changes the plan with audit-server org plan."}static{this.properties={usage:{state:!0}}}async load(e){this.usage=(await e.get("/usage")).usage}row(e,{count:t,max:s},i=d){let a=s===null?"":s===0?"not in this plan":`${Math.round(100*t/s)} %`;return n`<tr>
<th scope="row">${e} ${i}</th><td>${fe.format(t)}</td><td>${s===null?"no limit":fe.format(s)}</td>
<td>${s?n`<meter min="0" max=${s} high=${s*.9} value=${Math.min(t,s)} aria-label=${`${e}: ${a}`}></meter> `:d}${a}</td>
    </tr>`}content(){let{usage:e}=this;if(!e)return n``;let t=[this.row("Live events today",e.events_today,n`<span class="muted">until ${u(e.day_ends_at)}</span>`),this.row("Keys of the project",e.keys),this.row("Custom redaction rules",e.redaction_rules),this.row("Custom alert rules",e.alert_rules),this.row("Webhooks",e.webhooks),this.row("Viewer tiers",e.viewer_tiers)];return n`<div class="cards">
<div class="card"><b>${vs[e.plan]??e.plan}</b><span class="muted">plan</span></div>
<div class="card"><b>${fe.format(e.events.live)}</b><span class="muted">live events stored</span></div>
<div class="card"><b>${fe.format(e.events.test)}</b><span class="muted">test events stored</span></div>
</div>
${this.table(["","Used","Limit","Share"],t,"")}`}};var fs={address_not_allowed:["The host is, or its name resolves to, a private or special address. Nothing was sent.","Use a public address, or have the operator allow this one (AUDIT_WEBHOOK_ALLOW_PRIVATE)."],name_not_resolved:["The name of the host has no address, or the resolver failed.","Check the host in the URL and its DNS records."],connection_failed:["No address of the host accepted a connection.","Check that the receiver runs and that a firewall lets the connections of this server through."],tls_failed:["The certificate is not trusted, has expired or is for another name, or the port does not speak TLS.","Check the certificate of the receiver, with its intermediate certificates, and the port."],timed_out:["The receiver sent no complete response within 15 seconds.","Let the receiver respond first and do its work afterwards."],connection_dropped:["The connection ended before the response did.","Look into the logs of the receiver and of the proxies before it at the time of the attempt."],not_sendable:["The server could not prepare the message: the secret or the URL cannot be decrypted, or the alert is damaged.","The log of the server has details. Check AUDIT_ENCRYPTION_KEY on every node."],protocol_error:["The response is not HTTP/1, or has too many headers.","Check that an HTTP server listens on this port, and reduce the headers of its response."]};function Et({status_code:r,error:o}){if(r===null)return fs[o??""]??["There was no response.","Look into the logs of the receiver."];if(!(r>=200&&r<300))return r===410?["The receiver says that it is gone. The webhook was disabled.","Correct the URL, then enable the webhook: deliveries that wait are sent."]:r>=300&&r<400?["The receiver redirects. Redirects are not followed, because their target was not checked.","Enter the URL to which it redirects."]:r===401||r===403?["The receiver refuses the message.","Check that it verifies the signature with the present secret, on the unchanged body, and that its clock is right."]:r===404||r===405?["The receiver has nothing that takes a POST at this path.","Check the path in the URL."]:r===429?["The receiver limits the rate.","Nothing: the next attempt waits, for as long as its Retry-After says."]:r>=500?["The receiver failed.","Look into its logs at the time of the attempt. The next attempt follows by itself."]:["The receiver refuses the message.","Look into its logs for the reason."]}function bs({status:r,next_attempt_at:o,attempts:e},{enabled:t}){if(r==="delivered")return n`<p class="notice good">Delivered. Nothing is to be done.</p>`;let s=e.at(-1),i=s&&Et(s),a=t?r==="failed"?n`No more attempts follow. Retry when the cause is removed.`:n`Next attempt: ${u(o)}.`:n`The webhook is disabled: the delivery waits until it is enabled.`;return n`<p class="notice ${r==="failed"?"bad":""}">${i?n`<b>${i[0]}</b> <span>${i[1]}</span>`:d} <span>${a}</span></p>`}function At({delivery:r,alert:o},e,t){let{type:s,alert_id:i,message_id:a,created_at:l,finished_at:c,status:p}=r,h=[["Status",n`<span class="badge ${p}">${p}</span>`],["Message",n`${s}${i?n` · <a href=${t}>${o?.rule_name??i}</a>`:d}`],["Request",n`<pre tabindex="0">POST ${e.url}\nwebhook-id: ${a}</pre> <span class="muted">with the headers webhook-timestamp and webhook-signature, and a body in the format ${e.format}</span>`],["Created",n`${u(l)}`],["Finished",n`${u(c)}`],["Id",n`<code>${r.id}</code>`]];return n`${bs(r,e)}
<div class="scroll" tabindex="0" role="group" aria-label="The delivery"><table class="facts"><tbody>${h.map(([f,b])=>n`<tr><th scope="row">${f}</th><td>${b}</td></tr>`)}</tbody></table></div>`}function Pt({attempts:r}){return r.map(o=>n`<tr>
<th scope="row">${o.number}</th><td>${u(o.started_at)}</td><td>${o.duration_ms} ms</td>
<td>${o.status_code===null?o.error??"–":`status ${o.status_code}`}</td><td class="wide">${Et(o)?.[0]??"success"}</td>
  </tr>`)}var $e=class extends m{constructor(){super();this.cursor=null;this.heading="Webhooks";this.text="Each live alert is sent to every enabled webhook as a signed message, with retries.";this.webhooks=[],this.deliveries=[]}static{this.properties={webhooks:{state:!0},opened:{state:!0},deliveries:{state:!0},delivery:{state:!0}}}get deliveryId(){return this.idOf("delivery","whd")}async load(e,t){if(!this.session.isMaster)return;this.webhooks=(await e.get("/alerts/webhooks")).webhooks;let s=this.webhooks.find(({id:i})=>i===this.named("webhook"));s?.id!==this.opened?.id&&(this.opened=void 0),this.delivery=void 0,s&&this.deliveryId?this.delivery=await this.readDelivery(t,this.deliveryId):s&&await this.readDeliveries(e,s),this.opened=s}async readDeliveries(e,t,s){let i=await e.get(`/alerts/webhooks/${t.id}/deliveries`,{cursor:s});this.deliveries=s?[...this.deliveries,...i.deliveries]:i.deliveries,this.cursor=i.cursor}get live(){return this.session.with({environment:"live"})}async readDelivery(e,t){let s=new S(this.live.api.connection,e),{delivery:i}=await s.get(`/alerts/deliveries/${t}`),a=i.alert_id?await y(s.get(`/alerts/${i.alert_id}`)):void 0;return{delivery:i,alert:a?.alert}}async onSubmit(e){let t=e.target,s=v(e),i=async()=>{let{webhook:a}=await this.session.api.send("POST","/alerts/webhooks",s);this.reveal("Secret of the new webhook",a.secret)};await this.change(i,"The webhook was created.")&&t.reset()}rotate(e){this.ask({title:"Rotate the secret",verb:"Rotate",text:`A new secret signs messages to ${e.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,run:async()=>{let t=await this.session.api.send("POST",`/alerts/webhooks/${e.id}/rotate-secret`);this.reveal("New secret of the webhook",t.webhook.secret)}})}confirmRemoval(e){this.ask({title:"Delete the webhook",verb:"Delete",text:`Nothing more is sent to ${e.url}. Its deliveries, pending ones included, are deleted too.`,run:()=>this.session.api.send("DELETE",`/alerts/webhooks/${e.id}`)})}toggle(e){let t=s=>this.session.api.send("PATCH",`/alerts/webhooks/${e.id}`,{enabled:s});if(!e.enabled)return void this.change(()=>t(!0),"Enabled.");this.ask({title:"Disable the webhook",verb:"Disable",text:`Alerts that fire from now on are not sent to ${e.url}, and not later either. Pending deliveries wait until it is enabled.`,run:()=>t(!1)})}test(e){let t="A test message is queued. Refresh the deliveries to see its result.";this.attempt(()=>this.session.api.send("POST",`/alerts/webhooks/${e.id}/test`)).then(s=>{s&&(this.opened?.id===e.id?this.loadNewest(t):this.go({webhook:e.id,delivery:void 0},t))})}content(){if(!this.session.isMaster)return n`<p class="notice">Webhooks need a master key.</p>`;if(this.opened&&this.deliveryId)return n`<p><a href=${this.hrefOf({delivery:void 0})}>All deliveries to ${this.opened.url}</a></p> ${this.delivery?this.deliveryOf(this.delivery,this.opened):d}`;let e=this.webhooks.map(t=>n`<tr>
<td><span class="badge ${t.enabled?"on":""}">${t.enabled?"enabled":"disabled"}</span></td>
<th scope="row">${t.url}</th>
<td>${u(t.created_at)}</td>
<td class="actions">
<button @click=${()=>this.go({webhook:t.id,delivery:void 0})}>Deliveries</button>
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
${this.opened?this.deliveryTable(this.opened):d}`}retry(e){this.change(()=>this.session.api.send("POST",`/alerts/deliveries/${e.id}/retry`),"An attempt is made now.")}deliveryOf(e,t){let{delivery:s}=e;return n`<h3>Delivery of ${s.type}</h3>
${At(e,t,_("alerts",`alert=${s.alert_id??""}`,this.live))}
      <div class="bar"><button @click=${()=>this.loadNewest()}>Refresh</button> <button ?disabled=${!t.enabled||this.isBusy} @click=${()=>this.retry(s)}>Retry</button></div>
      <h3>Attempts</h3>
      ${this.table(["Attempt","Started","Took","Response","What was wrong"],Pt(s),"None yet.")}`}deliveryTable(e){let t=({number:i,status_code:a,error:l,duration_ms:c,started_at:p})=>n`<div title=${p}>${i}. ${a??l??"–"} <span class="muted">${c} ms</span></div>`,s=this.deliveries.map(i=>n`<tr>
<td><span class="badge ${i.status}">${i.status}</span></td>
<th scope="row"><a href=${this.hrefOf({delivery:i.id})}>${i.type}</a></th>
<td>${u(i.created_at)}</td>
<td>${i.attempts.length>0?i.attempts.map(t):"none yet"}</td>
<td>${u(i.next_attempt_at)}</td>
<td class="actions"><button @click=${()=>this.retry(i)}>Retry</button></td>
</tr>`);return n`<h3>Deliveries to ${e.url}</h3>
<div class="bar"><button @click=${()=>this.loadNewest()}>Refresh</button></div>
${this.table(["Status","Message","Created","Attempts","Next attempt",""],s,"Nothing was sent yet.")}
${this.cursor?n`<p><button @click=${()=>this.attempt(()=>this.readDeliveries(this.apiUntil(this.loading.signal),e,this.cursor??void 0))}>Show older deliveries</button></p>`:d}`}};var K=class r{constructor(o,e,t,s,i){this.key=o;this.projects=e;this.project=t;this.environment=s;this.onEnded=i;this.api=new S({baseUrl:"",credential:o,projectId:t?.id,environment:s})}get isMaster(){return this.key.startsWith("mk_")}with(o){let{projects:e,project:t,environment:s}={...this,...o};return new r(this.key,e,t,s,this.onEnded)}};var Ie=[{path:"overview",label:"Overview",content:(r,o)=>n`<console-overview .session=${r} .query=${o}></console-overview>`},{path:"events",label:"Events",content:(r,o)=>n`<console-events .session=${r} .query=${o}></console-events>`},{path:"alerts",label:"Alerts",content:(r,o)=>n`<console-alerts .session=${r} .query=${o}></console-alerts>`},{path:"rules",label:"Alert rules",content:(r,o)=>n`<console-rules .session=${r} .query=${o}></console-rules>`},{path:"webhooks",label:"Webhooks",content:(r,o)=>n`<console-webhooks .session=${r} .query=${o}></console-webhooks>`},{path:"destinations",label:"Destinations",content:(r,o)=>n`<console-destinations .session=${r} .query=${o}></console-destinations>`},{path:"retention",label:"Retention",content:(r,o)=>n`<console-retention .session=${r} .query=${o}></console-retention>`},{path:"erasures",label:"Erasures",content:(r,o)=>n`<console-erasures .session=${r} .query=${o}></console-erasures>`},{path:"redaction",label:"Redaction",content:(r,o)=>n`<console-redaction .session=${r} .query=${o}></console-redaction>`},{path:"tiers",label:"Viewer tiers",content:(r,o)=>n`<console-tiers .session=${r} .query=${o}></console-tiers>`},{path:"portal",label:"Portal",content:(r,o)=>n`<console-portal .session=${r} .query=${o}></console-portal>`},{path:"keys",label:"Projects and keys",content:(r,o)=>n`<console-keys .session=${r} .query=${o}></console-keys>`},{path:"streams",label:"Streams",content:(r,o)=>n`<console-streams .session=${r} .query=${o}></console-streams>`},{path:"usage",label:"Usage and plan",content:(r,o)=>n`<console-usage .session=${r} .query=${o}></console-usage>`},{path:"log",label:"Verifiable log",content:(r,o)=>n`<console-log .session=${r} .query=${o}></console-log>`}],qe=class extends I{static{this.properties={session:{state:!0},failure:{state:!0},address:{state:!0},isBusy:{state:!0}}}static{this.styles=[q,Me,k`
:host { display: flex; flex-direction: column; height: 100vh; height: 100dvh; background: var(--bg); }
.bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; padding: 8px 14px; border-bottom: 1px solid var(--border); }
.bar h1 { margin: 0 auto 0 0; font-size: 1.1em; font-weight: 600; } .bar h1 a { color: inherit; text-decoration: none; }
.bar .test { background: var(--warn-bg); color: var(--warn); padding: 3px 10px; border-radius: 12px; }
.main { display: flex; flex: 1; min-height: 0; }
nav { flex: 0 0 178px; display: flex; flex-direction: column; gap: 1px; padding: 10px 8px; border-inline-end: 1px solid var(--border); background: var(--surface); overflow: auto; }
nav a { padding: 6px 10px; border-radius: var(--radius); color: inherit; text-decoration: none; white-space: nowrap; }
nav a:hover { background: var(--selected); } nav a[aria-current] { background: var(--selected); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
.content { flex: 1; min-width: 0; min-height: 0; overflow: auto; display: flex; flex-direction: column; }
.content > :not(.notice) { flex: 1; } .content > .notice { margin: 10px 20px 0; }
.sign-in { margin: auto; width: min(420px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
.sign-in h1 { margin: 0 0 6px; font-size: 1.3em; } .sign-in label { display: flex; flex-direction: column; gap: 4px; margin: 14px 0; }
@media (max-width: 720px) {
.main { flex-direction: column; }
nav { flex: none; flex-direction: row; border-inline-end: 0; border-bottom: 1px solid var(--border); padding: 4px 8px; }
nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
}
`]}constructor(){super(),this.address=C(),this.isBusy=!1,addEventListener("hashchange",()=>{this.address=C(),this.session=this.session&&this.follow(this.session)})}async signIn(o){o.preventDefault();let e=o.target.elements.namedItem("key"),t=e.value.trim();e.value="",this.isBusy=!0,this.failure=void 0;try{this.session=this.follow(await this.open(t))}catch(s){this.failure=j(s)}finally{this.isBusy=!1}}async open(o){let e=new S({baseUrl:"",credential:o}),t=a=>{this.session=void 0,this.failure=a};if(!o.startsWith("mk_")){let l=(await y(e.get("/keys")))?.keys[0]?.project_id,c=l===void 0?void 0:{id:l,name:"",created_at:""};return new K(o,[],c,o.startsWith("pk_test_")?"test":"live",t)}let s=(await y(e.get("/projects",{archived:"all"})))?.projects??[],i=s.find(({archived_at:a})=>!a)??s[0];return new K(o,s,i,"live",t)}follow(o){let{path:e,query:t,...s}=this.address,i=o.projects.find(({id:p})=>p===s.project)??o.project,a=s.environment??o.environment,c=!o.isMaster||i?.id===o.project?.id&&a===o.environment?o:o.with({project:i,environment:a});return this.isElsewhere(c)||history.replaceState(history.state,"",_(e,t,c)),c}isElsewhere({project:o,environment:e}){let{address:t}=this;return(t.project??o?.id)!==o?.id||(t.environment??e)!==e}look(o){let{path:e,query:t}=this.address;this.session&&(location.hash=_(e,Ye(t),this.session.with(o)))}onProject(o){let e=o.target.value;this.look({project:this.session?.projects.find(t=>t.id===e)})}onCreated(o){let{session:e}=this;e&&(this.session=e.with({projects:[...e.projects,o.detail]}),location.hash=_("overview","",e.with({project:o.detail})))}onChanged({detail:o}){let{session:e}=this;if(!e)return;let t=e.projects.map(s=>s.id===o.id?o:s);this.session=e.with({projects:t,project:t.find(({id:s})=>s===e.project?.id)})}render(){return this.session?this.workspace(this.session):this.signInForm()}signInForm(){let{failure:o}=this;return n`<form class="sign-in" @submit=${this.signIn}>
<h1>Audit log console</h1>
<p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
${o?n`<p class="notice bad" role="alert">${o.message}</p>`:d}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy?"Signing in …":"Sign in"}</button>
    </form>`}workspace(o){let{address:e}=this,t=Ie.find(({path:c})=>c===e.path)??Ie[0];document.title=`${t?.label??""} · Audit log`;let{isMaster:s,projects:i,project:a,environment:l}=o;return n`
<header class="bar">
<h1><a href=${_("overview","",o)}>Audit log</a></h1>
${l==="test"?n`<span class="test">test environment</span>`:d}
        ${s?n`<select aria-label="Project" @change=${this.onProject}>${i.map(({id:c,name:p,archived_at:h})=>n`<option value=${c} .selected=${c===a?.id}>${p}${h?" (archived)":""}</option>`)}</select>
              <select aria-label="Environment" @change=${c=>this.look({environment:c.target.value})}>
                ${["live","test"].map(c=>n`<option .selected=${c===l}>${c}</option>`)}
              </select>`:n`<span class="muted">project key, ${l}</span>`}
        <button @click=${()=>this.session=void 0}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${Ie.map(({path:c,label:p})=>n`<a href=${_(c,"",o)} aria-current=${c===t?.path?"page":d}>${p}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated} @project-changed=${this.onChanged}>
          ${this.isElsewhere(o)?n`<p class="notice" role="alert">The link is to another project or environment, which this key does not show.</p>`:d}
          ${t?.content(o,e.query)}
        </div>
      </div>
    `}};Xe();var $s=[["console-overview",pe],["console-first-steps",ae],["console-events",oe],["console-alerts",te],["console-rules",Z],["console-webhooks",$e],["console-destinations",se],["console-retention",me],["console-erasures",re],["console-redaction",ue],["console-tiers",ve],["console-keys",le],["console-streams",ge],["console-portal",he],["console-usage",be],["console-log",ce],["console-page",qe]];for(let[r,o]of $s)customElements.define(r,o);document.querySelector("#app")?.append(document.createElement("console-page"));
