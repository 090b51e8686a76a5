var ge=globalThis,ve=ge.ShadowRoot&&(ge.ShadyCSS===void 0||ge.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,it=Symbol(),Pt=new WeakMap,oe=class{constructor(t,e,i){if(this._$cssResult$=!0,i!==it)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=t,this.t=e}get styleSheet(){let t=this.o,e=this.t;if(ve&&t===void 0){let i=e!==void 0&&e.length===1;i&&(t=Pt.get(e)),t===void 0&&((this.o=t=new CSSStyleSheet).replaceSync(this.cssText),i&&Pt.set(e,t))}return t}toString(){return this.cssText}},Rt=r=>new oe(typeof r=="string"?r:r+"",void 0,it),b=(r,...t)=>{let e=r.length===1?r[0]:t.reduce((i,s,n)=>i+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(s)+r[n+1],r[0]);return new oe(e,r,it)},Ct=(r,t)=>{if(ve)r.adoptedStyleSheets=t.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of t){let i=document.createElement("style"),s=ge.litNonce;s!==void 0&&i.setAttribute("nonce",s),i.textContent=e.cssText,r.appendChild(i)}},st=ve?r=>r:r=>r instanceof CSSStyleSheet?(t=>{let e="";for(let i of t.cssRules)e+=i.cssText;return Rt(e)})(r):r;var{is:Li,defineProperty:Ii,getOwnPropertyDescriptor:Ui,getOwnPropertyNames:Hi,getOwnPropertySymbols:Bi,getPrototypeOf:zi}=Object,ye=globalThis,Ot=ye.trustedTypes,Vi=Ot?Ot.emptyScript:"",qi=ye.reactiveElementPolyfillSupport,ae=(r,t)=>r,rt={toAttribute(r,t){switch(t){case Boolean:r=r?Vi:null;break;case Object:case Array:r=r==null?r:JSON.stringify(r)}return r},fromAttribute(r,t){let e=r;switch(t){case Boolean:e=r!==null;break;case Number:e=r===null?null:Number(r);break;case Object:case Array:try{e=JSON.parse(r)}catch{e=null}}return e}},Mt=(r,t)=>!Li(r,t),Ft={attribute:!0,type:String,converter:rt,reflect:!1,useDefault:!1,hasChanged:Mt};Symbol.metadata??=Symbol("metadata"),ye.litPropertyMetadata??=new WeakMap;var C=class extends HTMLElement{static addInitializer(t){this._$Ei(),(this.l??=[]).push(t)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(t,e=Ft){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(t)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(t,e),!e.noAccessor){let i=Symbol(),s=this.getPropertyDescriptor(t,i,e);s!==void 0&&Ii(this.prototype,t,s)}}static getPropertyDescriptor(t,e,i){let{get:s,set:n}=Ui(this.prototype,t)??{get(){return this[e]},set(o){this[e]=o}};return{get:s,set(o){let a=s?.call(this);n?.call(this,o),this.requestUpdate(t,a,i)},configurable:!0,enumerable:!0}}static getPropertyOptions(t){return this.elementProperties.get(t)??Ft}static _$Ei(){if(this.hasOwnProperty(ae("elementProperties")))return;let t=zi(this);t.finalize(),t.l!==void 0&&(this.l=[...t.l]),this.elementProperties=new Map(t.elementProperties)}static finalize(){if(this.hasOwnProperty(ae("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(ae("properties"))){let e=this.properties,i=[...Hi(e),...Bi(e)];for(let s of i)this.createProperty(s,e[s])}let t=this[Symbol.metadata];if(t!==null){let e=litPropertyMetadata.get(t);if(e!==void 0)for(let[i,s]of e)this.elementProperties.set(i,s)}this._$Eh=new Map;for(let[e,i]of this.elementProperties){let s=this._$Eu(e,i);s!==void 0&&this._$Eh.set(s,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(t){let e=[];if(Array.isArray(t)){let i=new Set(t.flat(1/0).reverse());for(let s of i)e.unshift(st(s))}else t!==void 0&&e.push(st(t));return e}static _$Eu(t,e){let i=e.attribute;return i===!1?void 0:typeof i=="string"?i:typeof t=="string"?t.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(t=>this.enableUpdating=t),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(t=>t(this))}addController(t){(this._$EO??=new Set).add(t),this.renderRoot!==void 0&&this.isConnected&&t.hostConnected?.()}removeController(t){this._$EO?.delete(t)}_$E_(){let t=new Map,e=this.constructor.elementProperties;for(let i of e.keys())this.hasOwnProperty(i)&&(t.set(i,this[i]),delete this[i]);t.size>0&&(this._$Ep=t)}createRenderRoot(){let t=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Ct(t,this.constructor.elementStyles),t}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(t=>t.hostConnected?.())}enableUpdating(t){}disconnectedCallback(){this._$EO?.forEach(t=>t.hostDisconnected?.())}attributeChangedCallback(t,e,i){this._$AK(t,i)}_$ET(t,e){let i=this.constructor.elementProperties.get(t),s=this.constructor._$Eu(t,i);if(s!==void 0&&i.reflect===!0){let n=(i.converter?.toAttribute!==void 0?i.converter:rt).toAttribute(e,i.type);this._$Em=t,n==null?this.removeAttribute(s):this.setAttribute(s,n),this._$Em=null}}_$AK(t,e){let i=this.constructor,s=i._$Eh.get(t);if(s!==void 0&&this._$Em!==s){let n=i.getPropertyOptions(s),o=typeof n.converter=="function"?{fromAttribute:n.converter}:n.converter?.fromAttribute!==void 0?n.converter:rt;this._$Em=s;let a=o.fromAttribute(e,n.type);this[s]=a??this._$Ej?.get(s)??a,this._$Em=null}}requestUpdate(t,e,i,s=!1,n){if(t!==void 0){let o=this.constructor;if(s===!1&&(n=this[t]),i??=o.getPropertyOptions(t),!((i.hasChanged??Mt)(n,e)||i.useDefault&&i.reflect&&n===this._$Ej?.get(t)&&!this.hasAttribute(o._$Eu(t,i))))return;this.C(t,e,i)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(t,e,{useDefault:i,reflect:s,wrapped:n},o){i&&!(this._$Ej??=new Map).has(t)&&(this._$Ej.set(t,o??e??this[t]),n!==!0||o!==void 0)||(this._$AL.has(t)||(this.hasUpdated||i||(e=void 0),this._$AL.set(t,e)),s===!0&&this._$Em!==t&&(this._$Eq??=new Set).add(t))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let t=this.scheduleUpdate();return t!=null&&await t,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[s,n]of this._$Ep)this[s]=n;this._$Ep=void 0}let i=this.constructor.elementProperties;if(i.size>0)for(let[s,n]of i){let{wrapped:o}=n,a=this[s];o!==!0||this._$AL.has(s)||a===void 0||this.C(s,void 0,n,a)}}let t=!1,e=this._$AL;try{t=this.shouldUpdate(e),t?(this.willUpdate(e),this._$EO?.forEach(i=>i.hostUpdate?.()),this.update(e)):this._$EM()}catch(i){throw t=!1,this._$EM(),i}t&&this._$AE(e)}willUpdate(t){}_$AE(t){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(t)),this.updated(t)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(t){return!0}update(t){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(t){}firstUpdated(t){}};C.elementStyles=[],C.shadowRootOptions={mode:"open"},C[ae("elementProperties")]=new Map,C[ae("finalized")]=new Map,qi?.({ReactiveElement:C}),(ye.reactiveElementVersions??=[]).push("2.1.2");var ot=globalThis,Nt=r=>r,be=ot.trustedTypes,Dt=be?be.createPolicy("lit-html",{createHTML:r=>r}):void 0,at="$lit$",O=`lit$${Math.random().toFixed(9).slice(2)}$`,lt="?"+O,Ji=`<${lt}>`,z=document,de=()=>z.createComment(""),ce=r=>r===null||typeof r!="object"&&typeof r!="function",dt=Array.isArray,Bt=r=>dt(r)||typeof r?.[Symbol.iterator]=="function",nt=`[ 	
\f\r]`,le=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,jt=/-->/g,Lt=/>/g,H=RegExp(`>|${nt}(?:([^\\s"'>=/]+)(${nt}*=${nt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),It=/'/g,Ut=/"/g,zt=/^(?:script|style|textarea|title)$/i,ct=r=>(t,...e)=>({_$litType$:r,strings:t,values:e}),l=ct(1),Te=ct(2),rr=ct(3),F=Symbol.for("lit-noChange"),c=Symbol.for("lit-nothing"),Ht=new WeakMap,B=z.createTreeWalker(z,129);function Vt(r,t){if(!dt(r)||!r.hasOwnProperty("raw"))throw Error("invalid template strings array");return Dt!==void 0?Dt.createHTML(t):t}var qt=(r,t)=>{let e=r.length-1,i=[],s,n=t===2?"<svg>":t===3?"<math>":"",o=le;for(let a=0;a<e;a++){let d=r[a],h,u,p=-1,f=0;for(;f<d.length&&(o.lastIndex=f,u=o.exec(d),u!==null);)f=o.lastIndex,o===le?u[1]==="!--"?o=jt:u[1]!==void 0?o=Lt:u[2]!==void 0?(zt.test(u[2])&&(s=RegExp("</"+u[2],"g")),o=H):u[3]!==void 0&&(o=H):o===H?u[0]===">"?(o=s??le,p=-1):u[1]===void 0?p=-2:(p=o.lastIndex-u[2].length,h=u[1],o=u[3]===void 0?H:u[3]==='"'?Ut:It):o===Ut||o===It?o=H:o===jt||o===Lt?o=le:(o=H,s=void 0);let m=o===H&&r[a+1].startsWith("/>")?" ":"";n+=o===le?d+Ji:p>=0?(i.push(h),d.slice(0,p)+at+d.slice(p)+O+m):d+O+(p===-2?a:m)}return[Vt(r,n+(r[e]||"<?>")+(t===2?"</svg>":t===3?"</math>":"")),i]},he=class r{constructor({strings:t,_$litType$:e},i){let s;this.parts=[];let n=0,o=0,a=t.length-1,d=this.parts,[h,u]=qt(t,e);if(this.el=r.createElement(h,i),B.currentNode=this.el.content,e===2||e===3){let p=this.el.content.firstChild;p.replaceWith(...p.childNodes)}for(;(s=B.nextNode())!==null&&d.length<a;){if(s.nodeType===1){if(s.hasAttributes())for(let p of s.getAttributeNames())if(p.endsWith(at)){let f=u[o++],m=s.getAttribute(p).split(O),v=/([.?@])?(.*)/.exec(f);d.push({type:1,index:n,name:v[2],strings:m,ctor:v[1]==="."?$e:v[1]==="?"?xe:v[1]==="@"?ke:q}),s.removeAttribute(p)}else p.startsWith(O)&&(d.push({type:6,index:n}),s.removeAttribute(p));if(zt.test(s.tagName)){let p=s.textContent.split(O),f=p.length-1;if(f>0){s.textContent=be?be.emptyScript:"";for(let m=0;m<f;m++)s.append(p[m],de()),B.nextNode(),d.push({type:2,index:++n});s.append(p[f],de())}}}else if(s.nodeType===8)if(s.data===lt)d.push({type:2,index:n});else{let p=-1;for(;(p=s.data.indexOf(O,p+1))!==-1;)d.push({type:7,index:n}),p+=O.length-1}n++}}static createElement(t,e){let i=z.createElement("template");return i.innerHTML=t,i}};function V(r,t,e=r,i){if(t===F)return t;let s=i!==void 0?e._$Co?.[i]:e._$Cl,n=ce(t)?void 0:t._$litDirective$;return s?.constructor!==n&&(s?._$AO?.(!1),n===void 0?s=void 0:(s=new n(r),s._$AT(r,e,i)),i!==void 0?(e._$Co??=[])[i]=s:e._$Cl=s),s!==void 0&&(t=V(r,s._$AS(r,t.values),s,i)),t}var we=class{constructor(t,e){this._$AV=[],this._$AN=void 0,this._$AD=t,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(t){let{el:{content:e},parts:i}=this._$AD,s=(t?.creationScope??z).importNode(e,!0);B.currentNode=s;let n=B.nextNode(),o=0,a=0,d=i[0];for(;d!==void 0;){if(o===d.index){let h;d.type===2?h=new Z(n,n.nextSibling,this,t):d.type===1?h=new d.ctor(n,d.name,d.strings,this,t):d.type===6&&(h=new _e(n,this,t)),this._$AV.push(h),d=i[++a]}o!==d?.index&&(n=B.nextNode(),o++)}return B.currentNode=z,s}p(t){let e=0;for(let i of this._$AV)i!==void 0&&(i.strings!==void 0?(i._$AI(t,i,e),e+=i.strings.length-2):i._$AI(t[e])),e++}},Z=class r{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(t,e,i,s){this.type=2,this._$AH=c,this._$AN=void 0,this._$AA=t,this._$AB=e,this._$AM=i,this.options=s,this._$Cv=s?.isConnected??!0}get parentNode(){let t=this._$AA.parentNode,e=this._$AM;return e!==void 0&&t?.nodeType===11&&(t=e.parentNode),t}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(t,e=this){t=V(this,t,e),ce(t)?t===c||t==null||t===""?(this._$AH!==c&&this._$AR(),this._$AH=c):t!==this._$AH&&t!==F&&this._(t):t._$litType$!==void 0?this.$(t):t.nodeType!==void 0?this.T(t):Bt(t)?this.k(t):this._(t)}O(t){return this._$AA.parentNode.insertBefore(t,this._$AB)}T(t){this._$AH!==t&&(this._$AR(),this._$AH=this.O(t))}_(t){this._$AH!==c&&ce(this._$AH)?this._$AA.nextSibling.data=t:this.T(z.createTextNode(t)),this._$AH=t}$(t){let{values:e,_$litType$:i}=t,s=typeof i=="number"?this._$AC(t):(i.el===void 0&&(i.el=he.createElement(Vt(i.h,i.h[0]),this.options)),i);if(this._$AH?._$AD===s)this._$AH.p(e);else{let n=new we(s,this),o=n.u(this.options);n.p(e),this.T(o),this._$AH=n}}_$AC(t){let e=Ht.get(t.strings);return e===void 0&&Ht.set(t.strings,e=new he(t)),e}k(t){dt(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,i,s=0;for(let n of t)s===e.length?e.push(i=new r(this.O(de()),this.O(de()),this,this.options)):i=e[s],i._$AI(n),s++;s<e.length&&(this._$AR(i&&i._$AB.nextSibling,s),e.length=s)}_$AR(t=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);t!==this._$AB;){let i=Nt(t).nextSibling;Nt(t).remove(),t=i}}setConnected(t){this._$AM===void 0&&(this._$Cv=t,this._$AP?.(t))}},q=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(t,e,i,s,n){this.type=1,this._$AH=c,this._$AN=void 0,this.element=t,this.name=e,this._$AM=s,this.options=n,i.length>2||i[0]!==""||i[1]!==""?(this._$AH=Array(i.length-1).fill(new String),this.strings=i):this._$AH=c}_$AI(t,e=this,i,s){let n=this.strings,o=!1;if(n===void 0)t=V(this,t,e,0),o=!ce(t)||t!==this._$AH&&t!==F,o&&(this._$AH=t);else{let a=t,d,h;for(t=n[0],d=0;d<n.length-1;d++)h=V(this,a[i+d],e,d),h===F&&(h=this._$AH[d]),o||=!ce(h)||h!==this._$AH[d],h===c?t=c:t!==c&&(t+=(h??"")+n[d+1]),this._$AH[d]=h}o&&!s&&this.j(t)}j(t){t===c?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,t??"")}},$e=class extends q{constructor(){super(...arguments),this.type=3}j(t){this.element[this.name]=t===c?void 0:t}},xe=class extends q{constructor(){super(...arguments),this.type=4}j(t){this.element.toggleAttribute(this.name,!!t&&t!==c)}},ke=class extends q{constructor(t,e,i,s,n){super(t,e,i,s,n),this.type=5}_$AI(t,e=this){if((t=V(this,t,e,0)??c)===F)return;let i=this._$AH,s=t===c&&i!==c||t.capture!==i.capture||t.once!==i.once||t.passive!==i.passive,n=t!==c&&(i===c||s);s&&this.element.removeEventListener(this.name,this,i),n&&this.element.addEventListener(this.name,this,t),this._$AH=t}handleEvent(t){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,t):this._$AH.handleEvent(t)}},_e=class{constructor(t,e,i){this.element=t,this.type=6,this._$AN=void 0,this._$AM=e,this.options=i}get _$AU(){return this._$AM._$AU}_$AI(t){V(this,t)}},Jt={M:at,P:O,A:lt,C:1,L:qt,R:we,D:Bt,V,I:Z,H:q,N:xe,U:ke,B:$e,F:_e},Wi=ot.litHtmlPolyfillSupport;Wi?.(he,Z),(ot.litHtmlVersions??=[]).push("3.3.3");var Wt=(r,t,e)=>{let i=e?.renderBefore??t,s=i._$litPart$;if(s===void 0){let n=e?.renderBefore??null;i._$litPart$=s=new Z(t.insertBefore(de(),n),n,void 0,e??{})}return s._$AI(r),s};var ht=globalThis,w=class extends C{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let t=super.createRenderRoot();return this.renderOptions.renderBefore??=t.firstChild,t}update(t){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(t),this._$Do=Wt(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return F}};w._$litElement$=!0,w.finalized=!0,ht.litElementHydrateSupport?.({LitElement:w});var Ki=ht.litElementPolyfillSupport;Ki?.({LitElement:w});(ht.litElementVersions??=[]).push("4.2.2");var Gi=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,Zi=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,pt=/[ \t\n\r]*/y;function Kt(r){return new ut(r).document()}var ut=class{constructor(t){this.text=t}text;#e=0;document(){let t=this.#n(0);return this.#s(pt),this.#e!==this.text.length&&this.#t(),t}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#s(t){t.lastIndex=this.#e;let e=t.exec(this.text)?.[0];return e!==void 0&&(this.#e+=e.length),e}#i(){return this.#s(pt),this.text[this.#e]}#r(t){this.#i()!==t&&this.#t(),this.#e+=1}#n(t){switch(t>200&&this.#t(),this.#i()){case"{":return this.#d(t);case"[":return this.#l(t);case'"':return this.#o();default:return this.#a()}}#o(){let t=this.#s(Zi);return t===void 0?this.#t():JSON.parse(t)}#a(){for(let[i,s]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(i,this.#e))return this.#e+=i.length,s;let t=this.#s(Gi);if(t===void 0)return this.#t();let e=Number(t);return/^-?[0-9]+$/.test(t)&&!Number.isSafeInteger(e)?BigInt(t):e}#l(t){let e=[];if(this.#r("["),this.#i()==="]")return this.#e+=1,e;for(;e.push(this.#n(t+1)),this.#i()===",";)this.#e+=1;return this.#r("]"),e}#d(t){let e={};if(this.#r("{"),this.#i()==="}")return this.#e+=1,e;for(;;){this.#s(pt);let i=this.#o();this.#r(":");let s=this.#n(t+1);if(Object.hasOwn(e,i)&&this.#t(),Object.defineProperty(e,i,{value:s,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#r("}"),e}};function Ae(r){if(typeof r=="bigint")return r.toString();if(Array.isArray(r))return`[${r.map(Ae).join(",")}]`;if(typeof r=="object"&&r!==null){let t=r;return`{${Object.keys(t).filter(i=>t[i]!==void 0).sort().map(i=>`${JSON.stringify(i)}:${Ae(t[i])}`).join(",")}}`}return JSON.stringify(r)??"null"}function Gt(r){return/\d{16}/.test(r)?Kt(r):JSON.parse(r)}function M(r,t=""){if(r===void 0)return"";if(typeof r=="bigint")return r.toString();if(r===null||typeof r!="object")return JSON.stringify(r);let e=`${t}  `,i=Array.isArray(r),s=i?r.map(a=>M(a,e)):Object.entries(r).map(([a,d])=>`${JSON.stringify(a)}: ${M(d,e)}`),[n,o]=i?["[","]"]:["{","}"];return s.length===0?n+o:`${n}
${e}${s.join(`,
${e}`)}
${t}${o}`}function mt(r){return typeof r=="string"?r:M(r).replace(/\n\s*/g," ")}var E=class extends Error{constructor(e,i,s=0,n="",o="",a=[]){super(i);this.kind=e;this.status=s;this.code=n;this.requestId=o;this.details=a}},Xi={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},N=class{constructor(t){this.connection=t}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(t,e={},i){return this.json(await this.fetch("GET",t,{parameters:e,signal:i}))}async text(t,e={}){return(await this.fetch("GET",t,{parameters:e})).text().catch(ft)}async send(t,e,i,s={}){return this.json(await this.fetch(t,e,{parameters:s,body:i}))}async json(t){let e=await t.text().catch(ft);try{return Gt(e)}catch{throw new E("server","the response is not JSON",t.status)}}async fetch(t,e,i={}){let{credential:s,baseUrl:n,projectId:o,environment:a}=this.connection,d=new URLSearchParams;for(let[v,A]of Object.entries(i.parameters??{}))A!==void 0&&A!==""&&d.set(v,String(A));this.isMaster&&a==="test"&&/^\/(events|alerts(\?|$|\/alt_)|log)/.test(e)&&d.set("environment","test");let h={};s&&(h.Authorization=`Bearer ${s}`),this.isMaster&&o&&!e.startsWith("/projects")&&(h["X-Project-Id"]=o),i.accept&&(h.Accept=i.accept);let u={method:t,headers:h,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};i.signal&&(u.signal=i.signal),i.body!==void 0&&(h["Content-Type"]="application/json",u.body=JSON.stringify(i.body));let p=d.toString(),f=`${n.replace(/\/+$/,"")}/api/v1${e}${p&&`?${p}`}`,m=await fetch(f,u).catch(ft);if(!m.ok)throw await Yi(m);return m}};function ft(r){throw r instanceof DOMException&&r.name==="AbortError"?r:new E("offline","no response from the server")}async function Yi(r){let t=await r.json().catch(()=>({})),e=Xi[r.status]??"server",i=t.error?.message??`status ${r.status}`;return new E(e,i,r.status,t.error?.code,t.request_id,t.error?.details)}function _(r){return r instanceof DOMException&&r.name==="AbortError"}function $(r){return r instanceof E?r:new E("server",r instanceof Error?r.message:String(r))}async function J(r){try{return await r}catch(t){if(t instanceof E&&["forbidden","not_found"].includes(t.kind))return;throw t}}var T=b`
:host {
--bg: var(--audit-background, light-dark(#ffffff, #14181d));
--surface: var(--audit-surface, light-dark(#f6f7f9, #1b2027));
--raised: var(--audit-raised, light-dark(#ffffff, #20262e));
--text: var(--audit-text, light-dark(#1c2430, #e3e8ee));
--muted: var(--audit-muted, light-dark(#5a6675, #9aa6b4));
--border: var(--audit-border, light-dark(#dfe3e8, #323a45));
--control: var(--audit-control-border, light-dark(#858f9b, #6b7785));
--accent: var(--audit-accent, light-dark(#1f5f99, #7db8ee));
--on-accent: var(--audit-on-accent, light-dark(#ffffff, #10202f));
--selected: var(--audit-selected, light-dark(#e8f0f8, #23303d));
--good: var(--audit-good, light-dark(#1c6b3c, #7fd3a0));
--good-bg: var(--audit-good-background, light-dark(#e6f4ea, #17301f));
--bad: var(--audit-bad, light-dark(#a8261f, #ff9d94));
--bad-bg: var(--audit-bad-background, light-dark(#fdebea, #3a1a19));
--warn: var(--audit-warn, light-dark(#7a4b00, #efc070));
--warn-bg: var(--audit-warn-background, light-dark(#fff4de, #33270f));
--auth: var(--audit-category-auth, light-dark(#3576b8, #6aaae8));
--access: var(--audit-category-access, light-dark(#1f8a7d, #4fc0b1));
--mutation: var(--audit-category-mutation, light-dark(#b57a12, #dda94a));
--admin: var(--audit-category-admin, light-dark(#7b58b3, #ae90e0));
--security: var(--audit-category-security, light-dark(#c2423b, #f0837b));
--system: var(--audit-category-system, light-dark(#6d7885, #97a3b0));
--font: var(--audit-font, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
--mono: var(--audit-mono-font, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace);
--size: var(--audit-font-size, 13px);
--radius: var(--audit-radius, 6px);
font: var(--size) / 1.45 var(--font);
color: var(--text);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 3px 10px; white-space: nowrap;
border: 1px solid var(--border); border-radius: var(--radius); background: var(--raised); cursor: pointer; text-decoration: none;
color: inherit;
}
button:hover:not(:disabled), .button:hover { background: var(--selected); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); background: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
button.plain { border-color: transparent; background: transparent; }
button.icon { padding: 3px 7px; }
button[aria-pressed="true"] { background: var(--selected); border-color: var(--accent); }
input, select, textarea {
min-height: 30px; padding: 3px 8px; border: 1px solid var(--control); border-radius: var(--radius); background: var(--bg);
min-width: 0; max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); line-height: 1.5; }
:is(button, input, select, textarea, a, [tabindex], summary):focus-visible {
outline: 2px solid var(--accent); outline-offset: 1px;
}
a { color: var(--accent); }
code, pre, .mono { font-family: var(--mono); font-size: 0.94em; }
.muted { color: var(--muted); }
.visually-hidden {
position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--system); flex: none; }
.dot.auth { background: var(--auth); } .dot.access { background: var(--access); } .dot.mutation { background: var(--mutation); }
.dot.admin { background: var(--admin); } .dot.security { background: var(--security); }
.notice { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px; border-radius: var(--radius);
background: var(--warn-bg); color: var(--warn); }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice.good { background: var(--good-bg); color: var(--good); }
@media (prefers-reduced-motion: no-preference) {
.spinner::before { animation: turn 0.9s linear infinite; }
}
.spinner::before {
content: ""; display: inline-block; width: 12px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border-radius: 50%;
border: 2px solid var(--border); border-top-color: var(--accent);
}
@keyframes turn { to { transform: rotate(1turn); } }
`,Ee=b`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
`;var Se=class extends w{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[T,b`
:host { display: flex; flex-direction: column; min-height: 0; background: var(--bg); }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; overflow-wrap: anywhere; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(92px, auto) 1fr; gap: 3px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; overflow-wrap: anywhere; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); overflow-wrap: anywhere; }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; }
.notice { margin-top: 12px; }
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(t){t.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:t,formats:e}=this,{messages:i}=e,{actor:s,target:n,context:o}=t;return l`
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
${t.redacted?l`<p class="notice">${i.redacted}</p>`:c}
        <section>
          <dl>
            ${this.row(i.occurredAt,e.full(t.occurred_at))} ${this.row(i.receivedAt,e.full(t.received_at))}
            ${this.row(i.category,t.category&&(i.categories[t.category]??t.category),"category",t.category)}
            ${this.row(i.action,t.action,"action")} ${this.row(i.tenant,t.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(t.changes)}
        ${this.section(i.actor,[this.row(i.name,s?.name),this.row(i.id,s?.id,"actor_id"),this.row(i.email,s?.email),this.row(i.type,s?.type&&(i.actorTypes[s.type]??s.type),"actor_type",s?.type)],s)}
        ${this.section(i.target,[this.row(i.name,n?.name),this.row(i.id,n?.id,"target_id"),this.row(i.type,n?.type,"target_type")],n)}
        ${this.section(i.context,[this.row(i.ipAddress,o?.ip_address),this.row(i.location,o?.location),this.row(i.userAgent,o?.user_agent),this.row(i.session,o?.session_id)],o)}
        ${this.section(i.metadata,Qi(t.metadata).map(([a,d])=>this.row(a,d)),t.metadata)}
        <section>
          <dl>${this.row(i.id,t.id)} ${this.row(i.contentHash,t.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?i.hideJson:i.rawJson}</button>
          <button @click=${()=>this.copy(M(t))}>${this.copied?i.copied:i.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?l`<pre tabindex="0" aria-label=${i.rawJson}>${M(t)}</pre>`:c}
        </section>
      </div>
    `}sentence(){let{actor:t,target:e,occurred_at:i}=this.event,s=t?.name??t?.id,n=e?.name??e?.id,o=this.formats.relative(i,Date.now());return[n?`${s??"?"} → ${n}`:s,o].filter(Boolean).join(" · ")}step(t){this.dispatchEvent(new CustomEvent("step",{detail:t}))}section(t,e,i){return i&&Object.keys(i).length>0?l`<section><h4>${t}</h4><dl>${e}</dl></section>`:c}row(t,e,i,s=e){if(e===void 0||e==="")return c;let{messages:n}=this.formats,o={field:i,value:s},a=i?l`<button class="value" title=${n.filterBy(t,e)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${e}</button>`:e;return l`<dt>${t}</dt><dd>${a}</dd>`}changes(t){if(!t||t.length===0)return c;let{messages:e}=this.formats,i=s=>s===void 0?l`<span class="muted">${e.absent}</span>`:mt(s);return l`<section>
<h4>${e.changes}</h4>
<table>
<thead><tr><th scope="col">${e.field}</th><th scope="col">${e.before}</th><th scope="col">${e.after}</th></tr></thead>
<tbody>
${t.map(s=>l`<tr><th scope="row">${s.field}</th><td class="before">${i(s.before)}</td><td class="after">${i(s.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(t){await navigator.clipboard.writeText(t).catch(()=>{}),this.copied=this.formats.messages.copied}};function Qi(r){let t=[],e=(i,s)=>{if(!(typeof s=="object"&&s!==null&&!Array.isArray(s)&&Object.keys(s).length>0))return void t.push([i,mt(s)]);for(let[o,a]of Object.entries(s))e(i?`${i}.${o}`:o,a)};return r&&e("",r),t}var P=["auth","access","mutation","admin","security","system"];var Pe=["search","category","action","actor_id","actor_type","target_id","target_type","tenant_id","start_date","end_date"];function W(r){let t={};for(let e of Pe){let i=r[e]?.trim();i&&(t[e]=i)}return t}function Zt(r){return Object.keys(W(r)).length===0}function X(r){return W(r)}function Xt(r){let{search:t,start_date:e,end_date:i,...s}=W(r);return s}function pe(r){let t=new URLSearchParams(W(r.filter));return r.event&&t.set("event",r.event),t.toString()}function Y(r){let t=new URLSearchParams(r.replace(/^#/,"")),e={};for(let s of Pe){let n=t.get(s);n&&(e[s]=n)}let i=t.get("event")??"";return{filter:W(e),event:/^evt_[0-9A-Z]{26}$/.test(i)?i:void 0}}function Yt(r){return Q(r)?.tenant_id}function Q(r){let[,t]=r.replace(/^vt_/,"").split(".");if(!(!r.startsWith("vt_")||!t))try{let e=Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),i=>i.charCodeAt(0));return JSON.parse(new TextDecoder().decode(e))}catch{return}}var K=class{constructor(t,e,i){this.language=t;this.messages=e;this.isUtc=i;this.buckets=new Map;let s=i?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(t,{...s,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(t,{...s,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(t,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(t)}number(t){return this.numbers.format(t)}absolute(t){return this.absoluteTime.format(new Date(t))}full(t){return this.fullTime.format(new Date(t))}relative(t,e){let i=Math.round((Date.parse(t)-e)/1e3),s=Math.abs(i);if(s<10)return this.messages.justNow;let n=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=n.find(([,d])=>s>=d)??["second",1];return this.relativeTime.format(Math.trunc(i/a),o)}bucket(t,e){let i=this.buckets.get(e);if(!i){let s={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},week:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},month:{year:"numeric",month:"long",timeZone:"UTC"}},n=this.isUtc?{timeZone:"UTC"}:{};i=new Intl.DateTimeFormat(this.language,{...n,...s[e]}),this.buckets.set(e,i)}return i.format(new Date(t))}bytes(t){let e=t<1e6?"kilobyte":"megabyte",i=t/(e==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:e,maximumFractionDigits:1}).format(i)}};function gt(r,t){let e=new Date(r);if(t==="month")return Date.UTC(e.getUTCFullYear(),e.getUTCMonth()+1,1);let i={minute:6e4,hour:36e5,day:864e5,week:7*864e5};return e.getTime()+i[t]}function Qt(r,t){if(!r||Number.isNaN(Date.parse(r)))return"";let e=new Date(r);return(t?e:new Date(e.getTime()-e.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function ei(r,t,e){if(!r)return;let i=Date.parse(t?`${r}Z`:r);return Number.isNaN(i)?void 0:new Date(i+(e?999:0)).toISOString()}var es=350,ti={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},Re=class extends w{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[T,b`
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
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(t,e){let i={...this.filter};e?i[t]=e:delete i[t],this.change(i)}change(t){clearTimeout(this.typing),this.filter=t,this.dispatchEvent(new CustomEvent("filter-change",{detail:W(t)}))}onInput(t,e){let{value:i}=e.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(t,i),es)}onEnter(t,e){e.key==="Enter"&&this.set(t,e.target.value)}rangeName(){let{start_date:t,end_date:e}=this.filter;return this.isCustomRange?"custom":!t&&!e?"all":this.chosen&&!e&&this.chosen.start===t?this.chosen.name:"custom"}onRange(t){let{value:e}=t.target;if(this.isCustomRange=e==="custom",e==="custom")return;let{start_date:i,end_date:s,...n}=this.filter;if(e==="all")return this.change(n);let o=e,a=new Date(Date.now()-ti[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...n,start_date:a})}render(){let{messages:t}=this.formats,e=this.rangeName(),i=Object.keys(this.filter).length;return l`
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
          ${P.map(s=>l`<option value=${s} .selected=${this.filter.category===s}>${this.categoryLabel(s)}</option>`)}
        </select>
        <select aria-label=${t.range} @change=${this.onRange}>
          ${["all",...Object.keys(ti),"custom"].map(s=>l`<option value=${s} .selected=${e===s}>${t.ranges[s]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?t.fewerFilters:t.moreFilters}
        </button>
        ${i>0?l`<button class="plain" @click=${()=>this.clear()}>${t.clearFilters}</button>`:c}
        <slot></slot>
      </div>
      ${e==="custom"?this.dates():c}
      ${this.isExpanded?this.fields():c} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(t){let e=this.formats.messages.categories[t]??t,i=this.top?.category?.find(s=>s.value===t);return i?`${e} (${this.formats.number(i.count)})`:e}dates(){let{messages:t}=this.formats,e=(i,s)=>l`
<label>
${s} (${this.isUtc?t.utc:t.localTime})
<input
type="datetime-local"
step="1"
.value=${Qt(this.filter[i],this.isUtc)}
@change=${n=>this.set(i,ei(n.target.value,this.isUtc,i==="end_date"))}
/>
</label>
`;return l`<div class="dates">${e("start_date",t.from)} ${e("end_date",t.to)}</div>`}fields(){let{messages:t}=this.formats,e=[{field:"action",label:t.action,hint:t.actionHint,suggestions:"action"},{field:"actor_id",label:t.actorId,suggestions:"actor_id"},{field:"target_id",label:t.targetId},{field:"target_type",label:t.targetType,suggestions:"target_type"}];return this.hasTenants&&e.push({field:"tenant_id",label:t.tenant,suggestions:"tenant_id"}),l`<div class="grid">
${e.map(i=>this.textField(i))}
<label>
${t.actorType}
<select @change=${i=>this.set("actor_type",i.target.value)}>
<option value="" .selected=${!this.filter.actor_type}>${t.any}</option>
${Object.entries(t.actorTypes).map(([i,s])=>l`<option value=${i} .selected=${this.filter.actor_type===i}>${s}</option>`)}
        </select>
      </label>
    </div>`}textField({field:t,label:e,hint:i,suggestions:s}){let n=(s&&this.top?.[s])??[],o=`suggestions-${t}`;return l`<label>
${e}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${i??""}
list=${n.length>0?o:c}
.value=${this.filter[t]??""}
@input=${a=>this.onInput(t,a)}
@keydown=${a=>this.onEnter(t,a)}
/>
</label>
${n.length>0?l`<datalist id=${o}>${n.map(({value:a,count:d})=>l`<option value=${a}>${this.formats.number(d)}</option>`)}</datalist>`:c}`}chips(){let{messages:t}=this.formats,e={search:t.search,category:t.category,action:t.action,actor_id:t.actorId,actor_type:t.actorType,target_id:t.targetId,target_type:t.targetType,tenant_id:t.tenant,start_date:t.from,end_date:t.to},i=Pe.filter(n=>this.filter[n]&&n!=="search"&&n!=="category");if(i.length===0)return c;let s=(n,o)=>n.endsWith("_date")?this.formats.absolute(o):o;return l`<div class="chips">
${i.map(n=>{let o=s(n,this.filter[n]??"");return l`<button class="chip" title=${t.removeFilter(e[n],o)} @click=${()=>this.set(n,void 0)}>
          <span class="muted">${e[n]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var L=64,ii=400,Ce=class extends w{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([e])=>{e&&(this.width=Math.floor(e.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[T,b`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${L}px; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; justify-content: space-between; gap: 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.zoom { min-height: 20px; padding: 0 6px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let e=this.renderRoot.querySelector(".chart");e&&this.observer.observe(e)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(e){e.has("summary")&&(this.bars=this.summary?ts(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(e){let i=this.bars[e];if(!i||!this.summary)return"";let{messages:s}=this.formats,n=s.eventCount(this.formats.number(i.count),i.count===1);return s.bucket(this.formats.bucket(i.start,this.summary.interval),n)}selectionLabel(){let[e,i]=this.selection();if(e===i)return this.label(e);let s=this.bars.slice(e,i+1).reduce((h,u)=>h+u.count,0),{messages:n}=this.formats,o=this.summary?.interval??"day",a=h=>h?this.formats.bucket(h.start,o):"",d=`${a(this.bars[e])} – ${a(this.bars[i])}`;return n.bucket(d,n.eventCount(this.formats.number(s),s===1))}selection(){let e=this.anchor??this.active;return[Math.min(e,this.active),Math.max(e,this.active)]}render(){let{messages:e}=this.formats,i=this.bars.length,s=Math.max(1,...this.bars.map(p=>p.count)),n=i?this.width/i:0,o=n>4?1:0,[a,d]=this.selection(),h=this.bars.map((p,f)=>this.stack(p,f*n,Math.max(n-o,.5),s)),u=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return l`
<div
class="chart"
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
@focus=${()=>this.moveTo(this.active<0?i-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${L}" preserveAspectRatio="none" aria-hidden="true">
${h}
<line class="base" x1="0" x2=${this.width} y1=${L-.5} y2=${L-.5}></line>
${u||this.active>=0&&n>0?Te`<rect class="selection" x=${a*n} y="0" width=${(d-a+1)*n} height=${L}></rect>`:c}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?l`<b aria-live="off">${this.selectionLabel()}</b>`:this.legend()}
        <span>
          ${this.caption()}
          ${this.isZoomed?l`<button class="plain zoom" @click=${()=>this.zoomOut()}>${e.zoomOut}</button>`:c}
        </span>
      </div>
    `}legend(){let e=P.filter(s=>this.bars.some(n=>n.categories?.[s])),i=this.formats.messages.categories;return l`<span class="legend">${e.map(s=>l`<span><span class="dot ${s}"></span>${i[s]??s}</span>`)}</span>`}caption(){let[e,i]=[this.bars[0],this.bars.at(-1)];if(!e||!i||!this.summary||this.active>=0)return c;let{interval:s}=this.summary;return`${this.formats.bucket(e.start,s)} – ${this.formats.bucket(i.start,s)}`}stack(e,i,s,n){if(e.count===0)return c;let o=(L-4)/n;if(!e.categories){let d=Math.max(e.count*o,1.5);return Te`<rect class="all" x=${i} width=${s} y=${L-d} height=${d}></rect>`}let a=L;return P.map(d=>{let h=e.categories?.[d]??0;if(h===0)return c;let u=Math.max(h*o,1.5);return a-=u,Te`<rect class=${d} x=${i} width=${s} y=${Math.max(a,0)} height=${u}></rect>`})}moveTo(e,i){i?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(e,this.bars.length-1))}onKey(e){let s=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:s,ArrowLeft:-s,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[e.key];if(o!==void 0)this.moveTo(this.active+o,e.shiftKey);else if(e.key==="Enter"||e.key===" ")this.zoom();else if(e.key==="Escape"&&this.isZoomed)this.zoomOut();else return;e.preventDefault(),e.stopPropagation()}indexAt(e){let i=e.currentTarget.getBoundingClientRect(),s=Math.max(0,Math.min(e.clientX-i.left,i.width-1));return Math.floor(s/i.width*this.bars.length)}onDown(e){e.button!==0||this.bars.length===0||(e.currentTarget.setPointerCapture(e.pointerId),this.isDragging=!0,this.active=this.indexAt(e),this.anchor=this.active)}onMove(e){this.bars.length>0&&(this.active=this.indexAt(e))}onUp(e){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(e),this.zoom())}zoom(){let[e,i]=this.selection(),[s,n]=[this.bars[e],this.bars[i]];if(!s||!n)return;let o={start:new Date(s.start).toISOString(),end:new Date(n.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function ts(r){let{interval:t}=r,e=new Map(r.buckets.map(a=>[Date.parse(a.start),a])),i=[...e.keys()].sort((a,d)=>a-d),[s,n]=[i[0],i.at(-1)];if(s===void 0||n===void 0)return[];let o=[];for(let a=s;a<=n&&o.length<=ii;){let d=new Date(a).toISOString(),h=gt(d,t);o.push({...e.get(a)??{start:d,count:0,categories:{}},end:h}),a=h}return o.length<=ii?o:i.map(a=>{let d=e.get(a);return{...d,end:gt(d.start,t)}})}var S=class extends Error{constructor(e,i,s){super(i,s);this.code=e}code;name="VerificationError"};function g(r,t,e){if(!r)throw new S(t,e)}var is=new TextEncoder;function ee(r){return is.encode(r)}function Oe(...r){let t=new Uint8Array(r.reduce((i,s)=>i+s.length,0)),e=0;for(let i of r)t.set(i,e),e+=i.length;return t}function D(r,t){if(r.length!==t.length)return!1;let e=0;for(let i=0;i<r.length;i+=1)e|=r[i]^t[i];return e===0}function ue(r){return Array.from(r,t=>t.toString(16).padStart(2,"0")).join("")}function te(r,t,e){return g(typeof r=="string"&&r.length===2*e&&/^[0-9a-f]*$/.test(r),"malformed",`${t} is not ${2*e} hexadecimal digits`),Uint8Array.from({length:e},(i,s)=>Number.parseInt(r.slice(2*s,2*s+2),16))}function I(r,t){g(typeof r=="string","malformed",`${t} is not base64`);let e;try{e=atob(r)}catch(i){throw new S("malformed",`${t} is not base64`,{cause:i})}return g(btoa(e)===r,"malformed",`${t} is not base64`),Uint8Array.from(e,i=>i.charCodeAt(0))}function Fe(){let r=globalThis.crypto?.subtle;if(r===void 0)throw new S("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return r}async function R(...r){return new Uint8Array(await Fe().digest("SHA-256",Oe(...r)))}var ss=128,rs=Uint8Array.of(0),ns=Uint8Array.of(1);function vt(r){return R(rs,r)}function ie(r,t){return R(ns,r,t)}function Me(r,t){return g(Array.isArray(r)&&r.length<=ss,"malformed",`${t} is not a list of hashes`),r.map(e=>{let i=I(e,`a hash of ${t}`);return g(i.length===32,"malformed",`a hash of ${t} is not 32 bytes long`),i})}async function yt(r){let{index:t,size:e}=r;g(Number.isSafeInteger(t)&&t>=0&&t<e,"not_included","the log has no such position");let i=t,s=e-1,n=r.leaf;for(let o of r.hashes){if(g(s!==0,"not_included","the proof has too many hashes"),i%2===1||i===s)for(n=await ie(o,n);i%2===0&&i!==0;)i=Math.floor(i/2),s=Math.floor(s/2);else n=await ie(n,o);i=Math.floor(i/2),s=Math.floor(s/2)}g(s===0,"not_included","the proof has too few hashes"),g(D(n,r.root),"not_included","the event is not in the log at this position")}async function bt(r){let{from:t,to:e}=r;if(g(t.size<=e.size,"inconsistent","the later checkpoint has fewer events"),t.size===0||t.size===e.size){g(r.hashes.length===0,"inconsistent","the proof has too many hashes"),g(t.size===0||D(t.root,e.root),"inconsistent","two roots of one size");return}let s=Number.isInteger(Math.log2(t.size))&&2**Math.round(Math.log2(t.size))===t.size?[t.root,...r.hashes]:[...r.hashes];g(s.length>0,"inconsistent","the proof has too few hashes");let n=t.size-1,o=e.size-1;for(;n%2===1;)n=Math.floor(n/2),o=Math.floor(o/2);let[a,d]=[s[0],s[0]];for(let h of s.slice(1)){if(g(o!==0,"inconsistent","the proof has too many hashes"),n%2===1||n===o)for(a=await ie(h,a),d=await ie(h,d);n%2===0&&n!==0;)n=Math.floor(n/2),o=Math.floor(o/2);else d=await ie(d,h);n=Math.floor(n/2),o=Math.floor(o/2)}g(o===0,"inconsistent","the proof has too few hashes"),g(D(a,t.root)&&D(d,e.root),"inconsistent","the later checkpoint does not continue the earlier one: history was rewritten")}var os=128*1024,as=100,si="— ",ls=1;async function ri(r){let t=a=>{throw new S("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[e="",i="",...s]=r.trim().split("+"),n=(()=>{try{return{id:te(i,"the key id",4),bytes:I(s.join("+"),"the key")}}catch(a){return t(a)}})();(!ni(e)||n.bytes.length!==33||n.bytes[0]!==ls)&&t();let o=(await R(ee(`${e}
`),n.bytes)).slice(0,4);return g(D(o,n.id),"invalid_key","the key id is not that of the key"),{name:e,id:n.id,publicKey:n.bytes.slice(1)}}function ni(r){return r!==""&&!/[\s+\u0000-\u001f]/u.test(r)}async function ds(r){let t=typeof r=="string"?[r]:r;return g(t.length>0,"invalid_key","no key is given"),Promise.all(t.map(ri))}function cs(r){let t="a line after the text of the note is not a signature";g(r.startsWith(si),"malformed",t);let[e="",i,...s]=r.slice(si.length).split(" ");g(ni(e)&&s.length===0,"malformed",t);let n=I(i,"a signature");return g(n.length>4,"malformed",t),{name:e,id:n.slice(0,4),bytes:n.slice(4)}}async function hs(r,t,e){let i;try{i=await Fe().importKey("raw",r.publicKey,{name:"Ed25519"},!1,["verify"])}catch(s){throw new S("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:s})}return Fe().verify({name:"Ed25519"},i,e,ee(t))}async function oi(r,t){g(typeof r=="string"&&r.length<=os,"malformed","the note is too long"),g(!/[\u0000-\u0009\u000b-\u001f]/.test(r),"malformed","the note has control characters");let e=r.lastIndexOf(`

`);g(e>=0&&r.endsWith(`
`)&&r.length>e+2,"malformed","the note has no signatures");let i=r.slice(0,e+1),s=r.slice(e+2,-1).split(`
`);g(s.length<=as,"malformed","the note has too many signatures");let n;for(let o of s.map(cs)){let a=t.find(({name:d,id:h})=>d===o.name&&D(h,o.id));a!==void 0&&(g(await hs(a,i,o.bytes),"invalid_signature","a signature is not valid"),n??=a)}return g(n!==void 0,"invalid_signature","the note is not signed by the given key"),{text:i,key:n}}async function se(r,t,e){let{text:i,key:s}=await oi(r,await ds(t)),[n="",o="",a="",...d]=i.slice(0,-1).split(`
`);g(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let h=Number(o);g(Number.isSafeInteger(h),"malformed","the size of the checkpoint is too large");let u=I(a,"the root of the checkpoint");return g(u.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),g(h>0||D(u,await R()),"malformed","the root is not that of the empty log"),g(d.every(p=>p!==""),"malformed","the checkpoint has an empty line"),e!==void 0&&g(n===e,"other_log",`this is a checkpoint of ${n}, not of ${e}`),g(n.startsWith(`${s.name}/`),"other_log",`${n} is not a log of ${s.name}`),{origin:n,size:h,root:u,signedBy:s.name}}function wt(r){let t=r.origin.slice(r.signedBy.length+1),e=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(t);return g(e!==null,"other_log",`${r.origin} is not the log of a project or of one of its tenants`),{log:e[1],tenantLabel:e[2]}}var j=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],ai={kind:["action","actor.type","category","target.type"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name"]},ps=["id","occurred_at","received_at","tenant_id"],Ne=16,us=32;function ms(r,t){let e=r;for(let i of t.split(".")){if(typeof e!="object"||e===null||!Object.hasOwn(e,i))return;e=e[i]}return e}function li(r,t){let e=t.map(i=>{let s=ms(r,i);return s===void 0?"":Ae(s)});return ee(e.join(`
`))}async function fs(r){let t=Array.from({length:Math.ceil(j.length/2)},(i,s)=>R(Uint8Array.of(4),r,Uint8Array.of(s))),e=Oe(...await Promise.all(t));return j.map((i,s)=>e.slice(Ne*s,Ne*(s+1)))}function di(r,t,e){return R(Uint8Array.of(2),e,Uint8Array.of(t),li(r,ai[j[t]]))}function ci(r,t,e){return R(Uint8Array.of(3),ee(`${e}
`),...t,li(r,ps))}async function $t(r,t,e){let i=await fs(te(t,"content_salt",Ne)),s=await Promise.all(i.map((n,o)=>di(r,o,n)));return ci(r,s,e)}async function xt(r,t,e){g(Object.keys(t).length===j.length&&j.every(s=>Object.hasOwn(t,s)),"malformed","the proof does not have the eleven parts of an event");let i=j.map((s,n)=>{let o=t[s];return g(typeof o=="object"&&o!==null,"malformed",`the part ${s} is not an object`),"hash"in o?(g(!("salt"in o),"malformed",`the part ${s} has both a salt and a hash`),te(o.hash,`the hash of the part ${s}`,us)):di(r,n,te(o.salt,`the salt of the part ${s}`,Ne))});return ci(r,await Promise.all(i),e)}async function De(r,t,e){let i,s=e?.trim()||void 0;try{i=await r.get(`/events/${t.id}/proof`),!s&&!r.isViewer&&(s=(await r.text("/log/key")).trim())}catch(n){let o=$(n),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return vs(t,i,s,!!e?.trim(),gs(r))}function gs(r){let t=Q(r.connection.credential)?.sub;return t?`${t}/live`:void 0}async function vs(r,t,e,i,s){let n=[],o=async(p,f)=>{try{return n.push({name:p,state:"ok",detail:await f()}),!0}catch(m){if(m instanceof S&&m.code==="unsupported_runtime")throw m;return n.push({name:p,state:"failed",detail:m instanceof Error?m.message:String(m)}),!1}},a=$s(t.checkpoint),d=a?xs(a.origin):void 0;try{if(await o("identity",async()=>ys(r,t,d,s)),await o("content",()=>bs(r,t,d)),await o("inclusion",()=>ws(t,a)),e){let p;await o("signature",async()=>(p=await se(t.checkpoint,e,a?.origin),wt(p),p.signedBy))}else n.push({name:"signature",state:"skipped",detail:""})}catch(p){return{outcome:"unavailable",steps:n,reason:"unsupported",message:$(p).message,hidden:[]}}n.push({name:"key",state:i&&n.at(-1)?.state==="ok"?"ok":"skipped",detail:e??""});let u={outcome:n.some(p=>p.state==="failed")?"failed":i?"verified":"consistent",steps:n,hidden:ks(t),position:t.seq,key:e};return a&&Object.assign(u,{origin:a.origin,size:a.size}),u}function ys(r,t,e,i){if(r.content_hash!==t.content_hash)throw new Error("the proof is one of another event");if(!e)throw new Error("the checkpoint does not name a log of a project");if(i&&e!==i)throw new Error(`the proof is one of the log ${e}`);return r.id}async function bs(r,t,e){if(!e)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:i,parts:s}=t,o=typeof i=="string"?await $t(r,i,e):await xt(r,s??{},e),a=`sha256:${ue(o)}`;if(a!==t.content_hash)throw new Error(`the fields shown give ${a}, the log has ${t.content_hash}`);return a}async function ws(r,t){if(!t)throw new Error("the checkpoint is not in the form of one");let e=r.content_hash.replace(/^sha256:/,""),i=Uint8Array.from(e.match(/../g)??[],o=>Number.parseInt(o,16)),s=Me(r.inclusion,"the inclusion proof"),n=await vt(i);return await yt({index:r.seq,size:t.size,leaf:n,hashes:s,root:I(t.root,"the root")}),`${r.seq} / ${t.size}`}function $s(r){if(typeof r!="string")return;let[t="",e="",i=""]=r.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(e)?{origin:t,size:Number(e),root:i}:void 0}function xs(r){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(r)?.[1]}function ks(r){let{content_salt:t,parts:e}=r;return typeof t=="string"||!e?[]:j.filter(i=>Object.hasOwn(e[i]??{},"hash"))}var je=class extends w{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[T,b`
:host { display: block; }
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
.detail { display: block; overflow-wrap: anywhere; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
`]}willUpdate(e){(e.has("event")||e.has("pinnedKey"))&&this.check()}async check(){let e=++this.run;this.report=void 0;let i=await De(this.api,this.event,this.pinnedKey);if(e!==this.run)return;this.report=i;let s={event:this.event.id,outcome:i.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:s,bubbles:!0,composed:!0}))}render(){let{messages:e}=this.formats,i=e.proof,{report:s}=this;if(!s)return l`<div class="mark" role="status"><p class="spinner">${i.running}</p></div>`;let n={verified:i.verified,consistent:i.consistent,failed:i.failed,unavailable:i.unavailable},o={verified:i.verifiedText,consistent:i.consistentText,failed:i.failedText,unavailable:this.reason(s)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},d=s.outcome==="verified"||s.outcome==="consistent";return l`
<div class="mark ${s.outcome}" part="proof proof-${s.outcome}" role=${s.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[s.outcome]}</span>${n[s.outcome]}</h4>
<p>${o[s.outcome]}</p>
${s.outcome==="consistent"?l`<p>${s.key?i.unpinnedText:i.noKeyText}</p>`:c}
        ${s.hidden.length>0?l`<p>${i.hidden(s.hidden.join(", "))}</p>`:c}
        ${s.steps.length>0?l`<details ?open=${!d}>
<summary>${i.checks}</summary>
${s.outcome==="verified"?l`<p>${i.pinnedText}</p>`:c}
              <ul class="steps">${s.steps.map(h=>this.step(h))}</ul>
              ${this.facts(s)}
            </details>`:c}
        <details>
          <summary>${i.notProven}</summary>
          <ul>${i.notProvenList.map(h=>l`<li>${h}</li>`)}</ul>
        </details>
        ${d?c:l`<p><button @click=${()=>this.check()}>${i.again}</button></p>`}
      </div>
    `}reason(e){let i=this.formats.messages.proof,n={forbidden:i.tier,unsupported:i.unsupported,offline:this.formats.messages.offlineText,other:""}[e.reason??"other"]||e.message||"";return`${i.unavailableText} ${n}`}step({name:e,state:i,detail:s}){let n=this.formats.messages.proof;return l`<li class=${i}>
${n.steps[e]}${i==="skipped"?l` <span class="muted">(${n.skipped})</span>`:c}
      ${i==="failed"?l`<code class="detail">${s}</code>`:c}
    </li>`}facts({position:e,size:i,origin:s,key:n}){let o=this.formats.messages.proof;return e===void 0||i===void 0?c:l`
<p>${o.position(this.formats.number(e+1),this.formats.number(i))}</p>
<dl>
${s?l`<dt class="muted">${o.signedBy}</dt><dd class="mono">${s}</dd>`:c}
        ${n?l`<dt class="muted">${o.key}</dt><dd class="mono">${n}</dd>`:c}
      </dl>
    `}};var hi={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},pi=r=>(...t)=>({_$litDirective$:r,values:t}),Le=class{constructor(t){}get _$AU(){return this._$AM._$AU}_$AT(t,e,i){this._$Ct=t,this._$AM=e,this._$Ci=i}_$AS(t,e){return this.update(t,e)}update(t,e){return this.render(...e)}};var{I:_s}=Jt,ui=r=>r;var mi=()=>document.createComment(""),re=(r,t,e)=>{let i=r._$AA.parentNode,s=t===void 0?r._$AB:t._$AA;if(e===void 0){let n=i.insertBefore(mi(),s),o=i.insertBefore(mi(),s);e=new _s(n,o,r,r.options)}else{let n=e._$AB.nextSibling,o=e._$AM,a=o!==r;if(a){let d;e._$AQ?.(r),e._$AM=r,e._$AP!==void 0&&(d=r._$AU)!==o._$AU&&e._$AP(d)}if(n!==s||a){let d=e._$AA;for(;d!==n;){let h=ui(d).nextSibling;ui(i).insertBefore(d,s),d=h}}}return e},U=(r,t,e=r)=>(r._$AI(t,e),r),Ts={},fi=(r,t=Ts)=>r._$AH=t,gi=r=>r._$AH,Ie=r=>{r._$AR(),r._$AA.remove()};var vi=(r,t,e)=>{let i=new Map;for(let s=t;s<=e;s++)i.set(r[s],s);return i},yi=pi(class extends Le{constructor(r){if(super(r),r.type!==hi.CHILD)throw Error("repeat() can only be used in text expressions")}dt(r,t,e){let i;e===void 0?e=t:t!==void 0&&(i=t);let s=[],n=[],o=0;for(let a of r)s[o]=i?i(a,o):o,n[o]=e(a,o),o++;return{values:n,keys:s}}render(r,t,e){return this.dt(r,t,e).values}update(r,[t,e,i]){let s=gi(r),{values:n,keys:o}=this.dt(t,e,i);if(!Array.isArray(s))return this.ut=o,n;let a=this.ut??=[],d=[],h,u,p=0,f=s.length-1,m=0,v=n.length-1;for(;p<=f&&m<=v;)if(s[p]===null)p++;else if(s[f]===null)f--;else if(a[p]===o[m])d[m]=U(s[p],n[m]),p++,m++;else if(a[f]===o[v])d[v]=U(s[f],n[v]),f--,v--;else if(a[p]===o[v])d[v]=U(s[p],n[v]),re(r,d[v+1],s[p]),p++,v--;else if(a[f]===o[m])d[m]=U(s[f],n[m]),re(r,s[p],s[f]),f--,m++;else if(h===void 0&&(h=vi(o,m,v),u=vi(a,p,f)),h.has(a[p]))if(h.has(a[f])){let A=u.get(o[m]),tt=A!==void 0?s[A]:null;if(tt===null){let St=re(r,s[p]);U(St,n[m]),d[m]=St}else d[m]=U(tt,n[m]),re(r,s[p],tt),s[A]=null;m++}else Ie(s[f]),f--;else Ie(s[p]),p++;for(;m<=v;){let A=re(r,d[v+1]);U(A,n[m]),d[m++]=A}for(;p<=f;){let A=s[p++];A!==null&&Ie(A)}return this.ut=o,fi(r,d),F}});async function bi(r,t,e,i,s){let n=await r.fetch("GET","/events/export",{parameters:{...X(t),format:e},signal:s}),o=/filename="([^"]+)"/.exec(n.headers.get("content-disposition")??"")?.[1]??`events.${e}`,a=[],d=0,h=n.body?.getReader();for(;;){let u=await h?.read().catch(As);if(!u||u.done)break;a.push(u.value),d+=u.value.length,i(d)}me(new Blob(a,{type:n.headers.get("content-type")??"application/octet-stream"}),o)}function As(r){throw _(r)?r:new E("offline","the export was interrupted")}function me(r,t){let e=URL.createObjectURL(r),i=document.createElement("a");i.href=e,i.download=t,i.click(),setTimeout(()=>URL.revokeObjectURL(e),6e4)}var Ue=class{constructor(t){this.host=t;this.isMenuOpen=!1;this.failure=""}abort(){this.running?.abort()}openMenu(t){this.isMenuOpen=t,this.host.requestUpdate()}async save(t,e,i){this.openMenu(!1),this.abort();let s=new AbortController;this.running=s,this.failure="";let n=o=>{this.bytes=o,this.host.requestUpdate()};n(0);try{await bi(t,e,i,n,s.signal)}catch(o){_(o)||(this.failure=$(o).message)}finally{n(void 0)}}menu(t,e,{messages:i}){return l`<div class="menu" @focusout=${o=>{o.currentTarget.contains(o.relatedTarget)||this.openMenu(!1)}} @keydown=${o=>{o.key==="Escape"&&(this.openMenu(!1),o.currentTarget.querySelector("button")?.focus())}}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.openMenu(!this.isMenuOpen)}>${i.download}</button>
${this.isMenuOpen?l`<div>
            <button @click=${()=>this.save(t,e,"csv")}>${i.downloadCsv}</button>
            <button @click=${()=>this.save(t,e,"jsonl")}>${i.downloadJson}</button>
          </div>`:c}
    </div>`}message(t){let{messages:e}=t;return this.bytes!==void 0?l`<div class="notice good" role="status">${e.downloading(t.bytes(this.bytes))}
<button @click=${()=>this.abort()}>${e.cancel}</button></div>`:this.failure?l`<div class="notice bad" role="alert">${e.downloadFailed}: ${this.failure}</div>`:c}};var wi=200,$i=40;function xi(r,t){return r.occurred_at===t.occurred_at?r.id>t.id:r.occurred_at>t.occurred_at}var He=class{constructor(t,e,i){this.api=t;this.filter=e;this.signal=i;this.pages=[];this.next=null;this.isStarted=!1}continueWith(t){this.api=t}get length(){return this.pages.reduce((t,e)=>t+e.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(t){let e=t;for(let i of this.pages){if(e<i.count)return i.events?.[e];e-=i.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let t=this.next,e=await this.read(t);this.isStarted=!0,this.next=e.has_more?e.cursor:null;let i=e.events.at(-1);i&&this.pages.push({cursor:t,count:e.events.length,events:e.events,lastId:i.id})}read(t){let e={...X(this.filter),limit:wi,cursor:t??void 0};return this.api.get("/events",e,this.signal)}async show(t,e){let i=0,s=this.pages.map(d=>{let h=i;return i+=d.count,{page:d,start:h,end:i}}),n=({start:d,end:h})=>d<e&&h>t,o=s.filter(d=>n(d)&&!d.page.events);await Promise.all(o.map(({page:d})=>this.readAgain(d)));let a=this.pages.filter(d=>d.events).length;if(a>$i){let d=(t+e)/2,h=({start:p,end:f})=>Math.abs((p+f)/2-d),u=s.filter(p=>p.page.events&&p.start>0).sort((p,f)=>h(f)-h(p));for(let{page:p}of u.slice(0,a-$i))p.events=void 0}return o.length>0}async readAgain(t){let{events:e}=await this.read(t.cursor),i=e.findIndex(s=>s.id===t.lastId);t.events=i<0?e:e.slice(0,i+1),t.count=t.events.length}async refresh(){let{events:t}=await this.read(null),e=this.pages[0];if(!e?.events)return t.length>0?void 0:[];let i=new Set(e.events.map(d=>d.id)),s=e.events.at(-1),n=this.pages.length===1&&this.isComplete,o=t.filter(d=>!i.has(d.id)&&(n||s&&xi(d,s)));if(o.length===t.length&&t.length>=wi)return;let a=new Set(o.map(d=>d.id));return e.events=[...e.events,...o].sort((d,h)=>xi(d,h)?-1:1),e.count=e.events.length,e.lastId=e.events.at(-1)?.id??"",e.events.flatMap((d,h)=>a.has(d.id)?[h]:[])}};var ki={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter aus Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(r,t)=>`Filter entfernen: ${r} ${t}`,filterBy:(r,t)=>`Nur Ereignisse mit ${r} ${t} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(r,t)=>t?`${r} Ereignis`:`${r} Ereignisse`,loadedCount:r=>`${r} Ereignisse geladen`,newEvents:(r,t)=>t?`${r} neues Ereignis`:`${r} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(r,t)=>`${r}: ${t}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",localTime:"Ortszeit",download:"Herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:r=>`Wird heruntergeladen … ${r}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",checkShown:"Gezeigte prüfen",checkingShown:(r,t)=>`Prüfung ${r} von ${t} …`,checkedShown:(r,t,e)=>`Nachgewiesen: ${r}. Nicht nachgewiesen: ${t}. Ohne Nachweis: ${e}.`,position:(r,t)=>`Stelle ${r} von ${t} im Log`,hidden:r=>`Für Sie nicht sichtbar und daher nicht geprüft: ${r}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var ne={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(r,t)=>`Remove filter ${r}: ${t}`,filterBy:(r,t)=>`Show only events with ${r} ${t}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(r,t)=>t?`${r} event`:`${r} events`,loadedCount:r=>`${r} events loaded`,newEvents:(r,t)=>t?`${r} new event`:`${r} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(r,t)=>`${r}: ${t}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",localTime:"Local time",download:"Download",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:r=>`Downloading … ${r}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",checkShown:"Verify shown events",checkingShown:(r,t)=>`Verifying ${r} of ${t} …`,checkedShown:(r,t,e)=>`Verified: ${r}. Not verified: ${t}. Without a proof: ${e}.`,position:(r,t)=>`Position ${r} of ${t} in the log`,hidden:r=>`Not visible to you, and so not checked: ${r}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var Es=new Map([["en",ne],["de",ki]]);function kt(r){for(let t of r)for(let e of[t.toLowerCase(),t.toLowerCase().split("-")[0]??""]){let i=Es.get(e);if(i)return{name:t,messages:i}}return{name:"en",messages:ne}}var _i=1e3,Ss=3e4;async function Ti(r,t,e,i){let s="latest",n=_i;for(;!i.aborted;){try{for await(let o of Rs(r,t,s,i)){if(n=_i,e.connected(!0),o.event==="end"){let{code:a,message:d}=JSON.parse(o.data);throw new E("expired",d,401,a)}o.id&&(s=o.id),o.event==="audit"&&e.arrived()}}catch(o){if(i.aborted||_(o))return;let a=$(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){e.connected(!1),e.ended(a);return}}e.connected(!1),await Ps(n*(1+Math.random()),i),n=Math.min(n*2,Ss)}}function Ps(r,t){return new Promise(e=>{let i=setTimeout(e,r);t.addEventListener("abort",()=>(clearTimeout(i),e()),{once:!0})})}async function*Rs(r,t,e,i){let s={...Xt(t),after:e},o=(await r.fetch("GET","/events/feed",{parameters:s,accept:"text/event-stream",signal:i})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:d,value:h}=await o.read();if(d)return;a+=h;let u=a.split(`

`);a=u.pop()??"";for(let p of u)yield Cs(p)}}finally{await o.cancel().catch(()=>{})}}function Cs(r){let t={event:"",data:"",id:""};for(let e of r.split(`
`)){let i=e.indexOf(": "),s=e.slice(0,i);(s==="event"||s==="data"||s==="id")&&(t[s]=e.slice(i+2))}return t}var Os={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},Be=class{constructor(t){this.host=t;this.outcomes=new Map}clear(){this.outcomes.clear(),this.progress=void 0}note(t,e){this.outcomes.set(t,e),this.host.requestUpdate()}isTampered(t){return this.outcomes.get(t)==="failed"}show(t){this.progress=t,this.host.requestUpdate()}async run(t,e,i,s,n){if(this.progress?.isRunning)return;let{proof:o}=s.messages,a=u=>s.number(u),d={verified:0,consistent:0,failed:0,unavailable:0};for(let[u,p]of t.entries()){this.show({text:o.checkingShown(a(u+1),a(t.length)),isRunning:!0,isBad:d.failed>0});let{outcome:f}=await De(e,p,i);if(n.aborted)return;d[f]+=1,this.note(p,f)}let h=o.checkedShown(a(d.verified+d.consistent),a(d.failed),a(d.unavailable));this.show({text:h,isRunning:!1,isBad:d.failed>0})}mark(t,{messages:{proof:e}}){let i=this.outcomes.get(t);if(!i)return c;let s={verified:e.verified,consistent:e.consistent,failed:e.failed,unavailable:e.unavailable}[i];return l`<span class="mark ${i}" role="img" aria-label=${s} title=${s}>${Os[i]}</span>`}message({messages:t}){if(!this.progress)return c;let{text:e,isRunning:i,isBad:s}=this.progress;return l`<div class="notice ${s?"bad":"good"}" role=${s?"alert":"status"}>${e}
${i?c:l`<button @click=${()=>this.show(void 0)}>${t.close}</button>`}</div>`}};function Ai(r){return l`<div class="line" role="row" id="row-${r}" aria-rowindex=${r+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`}function Ei(r,t,e,i){let{position:s,isActive:n,isOpen:o,isFresh:a,isRelative:d,hasTenant:h,open:u}=t,p=[n&&"active",o&&"open",a&&"fresh",i.isTampered(r)&&"tampered"],f=d?e.relative(r.occurred_at,Date.now()):e.absolute(r.occurred_at),m=r.category??"system",v=e.messages.categories[m]??m;return l`<div class="line ${p.filter(Boolean).join(" ")}" role="row" part="row" id="row-${s}" aria-rowindex=${s+2} aria-selected=${o} @click=${u}>
<div role="gridcell" class="when"><time datetime=${r.occurred_at} title=${e.full(r.occurred_at)}>${f}</time></div>
<div role="gridcell" class="action"><span class="dot ${m}" role="img" aria-label=${v} title=${v}></span><span>${r.action??"–"}</span>${i.mark(r,e)}</div>
<div role="gridcell" class="who" title=${r.actor?.id??""}>${r.actor?.name??r.actor?.id??"–"}</div>
<div role="gridcell" class="what secondary" title=${r.target?.id??""}>${r.target?.name??r.target?.id??"–"}</div>
${h?l`<div role="gridcell" class="tenant secondary">${r.tenant_id}</div>`:c}
  </div>`}function ze(r,t,e=c){return l`<div class="state" part="state"><h3>${r}</h3><p>${t}</p>${e}</div>`}function Si(r,t,e,i){let s={expired:t.expired,offline:t.offline,busy:t.busy,forbidden:t.forbidden},n={expired:e?t.expiredWaiting:t.expiredText,offline:t.offlineText};return l`
<h3>${s[r.kind]??t.failed}</h3>
<p>${n[r.kind]??r.message}</p>
${r.details.map(({field:o,message:a})=>l`<p><code>${o}</code> ${a}</p>`)}
    ${r.requestId?l`<p class="mono">${t.requestId}: ${r.requestId}</p>`:c}
    ${r.kind==="expired"?c:l`<button @click=${i}>${t.retry}</button>`}
  `}var Pi=b`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden;
container-type: inline-size;
}
.root { display: flex; flex-direction: column; flex: 1; min-height: 0; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages > * { margin: 8px 12px 0; }
.main { display: flex; flex: 1; min-height: 0; position: relative; }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) minmax(120px, 1fr) minmax(120px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) minmax(110px, 1fr) minmax(110px, 1fr) minmax(90px, 0.7fr); }
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
.line .action span:nth-child(2) { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
audit-log-event { flex: 0 0 min(46%, 560px); border-inline-start: 1px solid var(--border); }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live[aria-pressed="true"]::before { background: var(--good); }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template-columns: 1fr auto; grid-template-rows: 22px 20px; gap: 0 10px; height: 56px; align-content: center; }
.narrow .line .action { grid-area: 1 / 1; } .narrow .line .when { grid-area: 1 / 2; }
.narrow .line .who { grid-area: 2 / 1; } .narrow .line .what { grid-area: 2 / 2; max-width: 44cqi; } .narrow .line .tenant { display: none; }
.narrow audit-log-event { position: absolute; inset: 0; z-index: 4; border: 0; }
.narrow .tools { margin-inline-start: 0; }
.narrow .menu > div { inset-inline: 0 auto; }
`;var Fs=34,Ms=56,Ns=640,Ri=12,Ds=80,js=400,Ls=1e4,Is=15e3,Us=5e3,Ve=class extends w{constructor(){super();this.api=new N({baseUrl:"",credential:""});this.formats=new K("en",kt(["en"]).messages,!1);this.loading=new AbortController;this.following=new AbortController;this.downloads=new Ue(this);this.checks=new Be(this);this.summaryReadAt=0;this.askedAt=-1/0;this.askedFor="";this.freshIds=new Set;this.resize=new ResizeObserver(([e])=>{e&&(this.isNarrow=e.contentRect.width<Ns),this.requestUpdate()});this.onHash=()=>{!this.fragment||pe(Y(location.hash))===pe(this.view)||this.applyView(Y(location.hash))};this.onOnline=()=>{(this.isOffline||this.failure?.kind==="offline")&&this.start()};this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isLoading=!1,this.isLoadingMore=!1,this.active=0,this.isConnected_=!1,this.isOffline=!1,this.isAbsolute=!0,this.isUtc=!1,this.isNarrow=!1,this.arrivedCount=0,this.isWaiting=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},failure:{state:!0},isLoading:{state:!0},isLoadingMore:{state:!0},summary:{state:!0},active:{state:!0},isConnected_:{state:!0},isOffline:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},isNarrow:{state:!0},arrivedCount:{state:!0},isWaiting:{state:!0},announcement:{state:!0}}}static{this.styles=[T,Ee,Pi]}connectedCallback(){super.connectedCallback(),this.resize.observe(this),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Is),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),this.fragment&&this.applyView(Y(location.hash)),this.hasUpdated&&this.start()}disconnectedCallback(){super.disconnectedCallback(),this.resize.disconnect(),clearInterval(this.clock),clearTimeout(this.arrivals),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),this.loading.abort(),this.following.abort(),this.downloads.abort()}get link(){return`${location.href.split("#")[0]}#${pe(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted}}applyView(e){this.filter=e.filter,this.wanted=e.event,this.opened=void 0}showView(){this.fragment&&this.link!==location.href&&history.replaceState(history.state,"",this.link),this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:pe(this.view)},bubbles:!0,composed:!0}))}willUpdate(e){if(e.has("lang")||e.has("isUtc")||!this.hasUpdated){let n=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:o,messages:a}=kt([this.lang,n,...navigator.languages].filter(h=>h)),d=navigator.languages.find(h=>h.split("-")[0]===o.split("-")[0]);this.formats=new K(o.includes("-")?o:d??o,a,this.isUtc)}let s=["baseUrl","token","projectId","environment"].some(n=>e.has(n));s&&(this.api=new N({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment})),e.has("token")&&this.isSameReader(e.get("token"))?this.resume():(s||e.has("filter"))&&this.start(),e.has("wanted")&&this.wanted&&this.pages&&!this.isLoading&&this.openById(this.wanted),e.has("paused")&&!s&&this.pages&&this.followLive()}updated(e){(e.has("filter")||e.has("opened"))&&this.showView(),this.layOut()}async reload(){await this.updateComplete,this.start()}start(){this.loading.abort(),this.following.abort(),this.loading=new AbortController,this.isWaiting=!1,this.failure=void 0,this.isOffline=!1,this.arrivedCount=0,this.active=0,this.pages=void 0,this.checks.clear(),this.token&&this.load(new He(this.api,this.filter,this.loading.signal),this.loading.signal)}async load(e,i){this.isLoading=!0,this.pages=e,this.readSummary(i);try{await e.more(),this.announcement=this.formats.messages.loadedCount(this.formats.number(e.length))}catch(n){if(_(n))return;this.fail($(n))}finally{i.aborted||(this.isLoading=!1)}if(i.aborted)return;let s=this.grid;s&&(s.scrollTop=0),this.failure||this.followLive(),this.wanted&&this.openById(this.wanted),this.requestUpdate()}isSameReader(e){let[i,s]=[Q(e??""),Q(this.token)];return!!(i&&s&&i.sub===s.sub&&i.tenant_id===s.tenant_id&&i.tier===s.tier&&this.pages&&this.pages.length>0)}resume(){this.isWaiting=!1,this.failure=void 0,this.pages?.continueWith(this.api),this.followLive()}async readSummary(e){this.summaryReadAt=Date.now();try{let i={...X(this.filter),split:"category"};this.summary=await this.api.get("/events/summary",i,e)}catch(i){!_(i)&&["not_found","forbidden"].includes($(i).kind)&&(this.summary=void 0)}}followLive(){if(this.following.abort(),this.isConnected_=!1,this.paused||!this.token)return;this.following=new AbortController;let e=!0,i={arrived:()=>this.onArrival(),connected:s=>{s&&(this.isOffline=!1),s&&e&&this.onArrival(),e&&=!s,this.isConnected_=s},ended:s=>{s.kind==="expired"?this.fail(s):this.paused=!0}};Ti(this.api,this.filter,i,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.showArrivals()},js)}async showArrivals(){let{pages:e,grid:i}=this;if(!e||this.paused)return;let{signal:s}=this.loading;try{let n=await e.refresh();if(s.aborted)return;if(!n)return this.start();for(let o of n){let a=e.at(o);a&&this.freshIds.add(a.id),o<=this.active&&(this.active+=1)}n.length>0&&i&&i.scrollTop>0?(await this.updateComplete,i.scrollTop+=n.length*this.rowHeight,this.arrivedCount+=n.length):this.active=Math.max(0,Math.min(this.active,e.length-1)),Date.now()-this.summaryReadAt>Ls&&this.readSummary(s),this.requestUpdate()}catch(n){_(n)||this.fail($(n))}}fail(e){if(e.kind==="offline"&&this.pages&&this.pages.length>0){this.isOffline=!0;return}this.failure=e,e.kind==="expired"&&(this.following.abort(),this.isConnected_=!1,this.askForToken(e))}async askForToken(e){if(this.askedFor===this.token)return;this.askedFor=this.token;let i=new CustomEvent("audit-token-expired",{detail:{code:e.code},bubbles:!0,composed:!0,cancelable:!0}),s=!this.dispatchEvent(i),n=Date.now()-this.askedAt<Us;if(this.isWaiting=s||!!this.refreshToken&&!n,!(!this.refreshToken||n)){this.askedAt=Date.now();try{this.token=await this.refreshToken()}catch{this.isWaiting=!1}}}get grid(){return this.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?Ms:Fs}window(){let{grid:e,pages:i}=this,s=i?.length??0,n=e?.scrollTop??0,o=e?.clientHeight||800,a=Math.max(0,Math.floor(n/this.rowHeight)-Ri);return[Math.min(a,s),Math.min(s,Math.ceil((n+o)/this.rowHeight)+Ri)]}layOut(){let{pages:e}=this;if(!e)return;let[i,s]=this.window(),n=this.renderRoot.querySelector(".before-rows"),o=this.renderRoot.querySelector(".after-rows");n?.style.setProperty("height",`${i*this.rowHeight}px`),o?.style.setProperty("height",`${(e.length-s)*this.rowHeight}px`),s+Ds>e.length&&!e.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline&&this.more(),e.show(i,s).then(a=>a&&this.requestUpdate(),a=>this.onBackground(a))}onBackground(e){_(e)||this.fail($(e))}async more(){this.isLoadingMore=!0;try{await this.pages?.more()}catch(e){this.onBackground(e)}finally{this.isLoadingMore=!1}}verifyShown(){let{pages:e,grid:i}=this;if(!e||!i)return;let s=Math.floor(i.scrollTop/this.rowHeight),n=Math.ceil(i.clientHeight/this.rowHeight),o=Array.from({length:n},(a,d)=>e.at(s+d)).filter(a=>a!==void 0);this.checks.run(o,this.api,this.pinnedKey,this.formats,this.loading.signal)}onProof(e){this.opened&&this.checks.note(this.opened,e.detail.outcome)}render(){let{messages:e}=this.formats,i=this.pages&&(this.pages.length>0||!this.isLoading&&!this.failure);return l`
<div class="root ${this.isNarrow?"narrow":""} ${this.hasTenants?"tenants":""}" dir=${e.direction} lang=${this.formats.language}>
${this.token?this.head():c}
<div class="messages">${this.messages()}</div>
<div class="main">
${i&&this.pages&&this.pages.length>0?this.list(this.pages):this.emptyState()}
${this.opened?l`<audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${s=>this.step(s.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof} @keydown=${this.onDetailsKey}
              ></audit-log-event>`:c}
        </div>
        ${this.token?this.foot():c}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}get hasTenants(){return!Yt(this.token)}head(){let{messages:e}=this.formats,{summary:i}=this;return l`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${i?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${s=>this.filter=s.detail}
>
<div class="tools">
<button class="live" aria-pressed=${!this.paused} title=${this.paused?e.liveStart:e.livePause} @click=${()=>this.paused=!this.paused}>
${!this.paused&&!this.isConnected_&&!this.failure?e.liveConnecting:e.live}
</button>
${this.downloads.menu(this.api,this.filter,this.formats)}
</div>
</audit-log-filters>
</div>
${i&&i.buckets.length>0?l`<div class="chart">
            <audit-log-histogram
              .summary=${i} .formats=${this.formats} ?narrow=${this.isNarrow}
              .isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
              @zoom=${s=>this.filter={...this.filter,start_date:s.detail.start,end_date:s.detail.end}}
              @zoom-out=${()=>this.zoomOut()}
            ></audit-log-histogram>
          </div>`:c}
    `}zoomOut(){let{start_date:e,end_date:i,...s}=this.filter;this.filter=s}messages(){let{messages:e}=this.formats,i=l`<div class="notice" role="status"><b>${e.offline}</b><span>${e.offlineText}</span>
<button @click=${()=>this.start()}>${e.retry}</button></div>`,s=this.pages&&this.pages.length>0;return l`${this.isOffline?i:c}
${this.failure&&s?l`<div class="notice bad" role="alert">${this.failureText(this.failure)}</div>`:c}
      ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`}emptyState(){let{messages:e}=this.formats;return this.token?this.failure?l`<div class="state" part="state" role="alert">${this.failureText(this.failure)}</div>`:this.isLoading||!this.pages?l`<div class="state" part="state" role="status"><p class="spinner">${e.loading}</p></div>`:Zt(this.filter)?ze(e.empty,e.emptyText):ze(e.emptyFilter,e.emptyFilterText,l`<button @click=${()=>this.filter={}}>${e.clearFilters}</button>`):ze(e.noToken,e.noTokenText)}failureText(e){return Si(e,this.formats.messages,this.isWaiting,()=>this.start())}list(e){let{messages:i}=this.formats,[s,n]=this.window(),o=Array.from({length:n-s},(h,u)=>s+u),a=yi(o,h=>h,h=>this.line(h,e.at(h))),d=[i.time,i.action,i.actor,i.target,...this.hasTenants?[i.tenant]:[]];return l`<div class="list">
${this.arrivedCount>0?l`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${i.newEvents(this.formats.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:c}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${i.events} aria-colcount=${d.length}
        aria-rowcount=${e.isComplete?e.length+1:-1}
        aria-activedescendant=${this.active>=s&&this.active<n?`row-${this.active}`:c}
        @scroll=${this.onScroll} @keydown=${this.onKey}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${d.map(h=>l`<div role="columnheader">${h}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${a}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${e.isComplete?i.endOfLog:this.isLoadingMore?i.loadingMore:c}</div>
      </div>
    </div>`}line(e,i){if(!i)return Ai(e);let s={position:e,isActive:e===this.active,isOpen:i.id===this.opened?.id,isFresh:this.freshIds.has(i.id),isRelative:!this.isAbsolute||this.isNarrow,hasTenant:this.hasTenants,open:()=>this.open(e)};return Ei(i,s,this.formats,this.checks)}foot(){let{messages:e}=this.formats,{pages:i,summary:s}=this,n=s?.total,o=i?.length??0,a=n??o,d=n===void 0&&!i?.isComplete?e.loadedCount(this.formats.number(o)):e.eventCount(this.formats.number(a),a===1);return l`<footer part="footer">
<span>${o>0||n!==void 0?d:c}</span>
<div class="tools">
<button class="plain" ?disabled=${this.checks.progress?.isRunning} @click=${()=>this.verifyShown()}>${e.proof.checkShown}</button>
${this.fragment?l`<button class="plain" @click=${()=>this.copyLink()}>${e.copyLink}</button>`:c}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?e.relativeTimes:e.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${e.utc}</button>
      </div>
    </footer>`}async copyLink(){await navigator.clipboard.writeText(this.link).catch(()=>{}),this.announcement=this.formats.messages.copied}onScroll(){this.grid?.scrollTop===0&&(this.arrivedCount=0),this.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.grid?.scrollTo({top:0}),this.grid?.focus()}onKey(e){let i=Math.max(1,Math.floor((this.grid?.clientHeight??400)/this.rowHeight)-2),n={ArrowDown:1,ArrowUp:-1,PageDown:i,PageUp:-i,Home:-1/0,End:1/0}[e.key];if(n!==void 0)this.moveTo(this.active+n);else if(e.key==="Enter"||e.key===" ")this.open(this.active,!0);else if(e.key==="Escape"&&this.opened)this.close();else return;e.preventDefault()}moveTo(e){let{grid:i,pages:s}=this;if(!i||!s)return;this.active=Math.max(0,Math.min(e,s.length-1));let n=this.active*this.rowHeight,o=this.isNarrow?0:30;n<i.scrollTop?i.scrollTop=n:n+this.rowHeight+o>i.scrollTop+i.clientHeight&&(i.scrollTop=n+this.rowHeight+o-i.clientHeight),this.opened&&!this.isNarrow&&this.open(this.active)}open(e,i=!1){let s=this.pages?.at(e);s&&(this.active=e,this.wanted=void 0,this.opened=s,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:s.id},bubbles:!0,composed:!0})),(i||this.isNarrow)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let e=this.renderRoot.querySelector("audit-log-event");await e?.updateComplete,e?.focus()}async openById(e){try{let{event:i}=await this.api.get(`/events/${e}`,{},this.loading.signal);this.wanted=void 0,this.opened=i}catch(i){if(_(i))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(e){this.moveTo(this.active+e),this.open(this.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid?.focus())}onDetailsKey(e){e.key==="Escape"&&this.close()}onFilterBy(e){this.isNarrow&&(this.opened=void 0),this.filter={...this.filter,[e.detail.field]:e.detail.value}}};function Ci(){let r=[["audit-log-proof",je],["audit-log-event",Se],["audit-log-filters",Re],["audit-log-histogram",Ce],["audit-log-viewer",Ve]];for(let[t,e]of r)customElements.get(t)||customElements.define(t,e)}function Hs(r,t){let[e="",...i]=r.split("*");if(i.length===0)return r===t;if(!t.startsWith(e))return!1;let s=e.length,n=i.pop()??"";for(let o of i){let a=t.indexOf(o,s);if(a<0)return!1;s=a+o.length}return t.length-n.length>=s&&t.endsWith(n)}function Bs(r,t){let e=[...r].sort((n,o)=>n.received_at<o.received_at?-1:1),i=new Map,s={lookedAt:r.length,matching:0,alerts:[]};for(let n of e){if(!n.action||!Hs(t.action_pattern,n.action))continue;s.matching+=1;let o=t.group_by==="tenant_id"?n.tenant_id:n.actor?.id??"",a=t.group_by==="tenant_id"?o:`${n.tenant_id}
${o}`,d=Date.parse(n.occurred_at),h=i.get(a)??{times:[],quietUntil:-1/0};i.set(a,h),h.times=[...h.times.filter(u=>u>d-t.window_seconds*1e3),d],!(h.times.length<t.threshold||d<h.quietUntil)&&(s.alerts.unshift({group:o,at:n.occurred_at,count:h.times.length}),h.quietUntil=d+t.cooldown_seconds*1e3,h.times=[])}return s}async function Oi(r,t){let e=t.action_pattern.split("*")[0]??"",i=e===""?void 0:t.action_pattern===e?e:`${e}*`,s=[],n;do{let o=await r.get("/events",{action:i,limit:200,cursor:n});s.push(...o.events),n=o.cursor??void 0}while(n&&s.length<2e3);return Bs(s.slice(0,2e3),t)}var zs=new Intl.DateTimeFormat(void 0,{dateStyle:"medium",timeStyle:"medium"});function k(r){return r?l`<time datetime=${r} title=${r}>${zs.format(new Date(r))}</time>`:"–"}function x(r){r.preventDefault();let t={};for(let[e,i]of new FormData(r.target))typeof i=="string"&&i.trim()!==""&&(t[e]=i.trim());return t}function G(r){return(r??"").split(/[\n,]/).map(t=>t.trim()).filter(t=>t!=="")}var y=class extends w{static{this.properties={session:{attribute:!1},failure:{state:!0},notice:{state:!0},question:{state:!0},secret:{state:!0},typed:{state:!0},isBusy:{state:!0},isLoaded:{state:!0}}}static{this.styles=[T,b`
:host { display: block; padding: 16px 20px 40px; overflow: auto; min-height: 0; }
h2 { margin: 0 0 2px; font-size: 1.35em; } h3 { margin: 22px 0 8px; font-size: 1.05em; }
p { margin: 4px 0 10px; max-width: 80ch; }
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
.badge { display: inline-block; padding: 0 8px; border-radius: 10px; background: var(--surface); border: 1px solid var(--border); font-size: 0.9em; white-space: nowrap; }
.badge.critical, .badge.failed, .badge.open { background: var(--bad-bg); color: var(--bad); border-color: transparent; }
.badge.high, .badge.pending, .badge.acknowledged { background: var(--warn-bg); color: var(--warn); border-color: transparent; }
.badge.delivered, .badge.resolved, .badge.on { background: var(--good-bg); color: var(--good); border-color: transparent; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 10px 0; }
.empty { padding: 24px; text-align: center; color: var(--muted); border: 1px dashed var(--border); border-radius: var(--radius); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(124px, 1fr)); gap: 10px; margin: 12px 0; }
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
`]}constructor(){super(),this.notice="",this.typed="",this.isBusy=!1,this.isLoaded=!1}willUpdate(t){t.has("session")&&this.reload()}async reload(){this.isLoaded=!1,await this.attempt(()=>this.load()),this.isLoaded=!0}async attempt(t,e=""){this.isBusy=!0,this.failure=void 0,this.notice="";try{return await t(),this.notice=e,!0}catch(i){return _(i)||(this.failure=$(i),this.failure.kind==="expired"&&this.session.onEnded(this.failure)),!1}finally{this.isBusy=!1,this.requestUpdate()}}async change(t,e=""){return await this.attempt(t)?(await this.attempt(()=>this.load()),this.failure||(this.notice=e),!0):!1}ask(t){this.typed="",this.question=t,this.showDialog()}reveal(t,e){this.secret={title:t,value:e},this.showDialog()}async showDialog(){await this.updateComplete;let t=this.renderRoot.querySelector("dialog");t&&!t.open&&t.showModal()}closeDialog(){this.question=void 0,this.secret=void 0}render(){let{failure:t}=this;return l`
<h2>${this.heading}</h2>
<p class="muted">${this.text}</p>
${t?l`<div class="notice bad" role="alert">
            <b>${t.message}</b>
            ${t.details.map(({field:e,message:i})=>l`<span><code>${e}</code> ${i}</span>`)}
            ${t.requestId?l`<span class="mono">${t.requestId}</span>`:c}
            <button @click=${()=>this.reload()}>Try again</button>
          </div>`:c}
      <div role="status">${this.notice?l`<div class="notice good">${this.notice}</div>`:c}</div>
      ${this.isLoaded?this.content():l`<p class="spinner">Loading …</p>`} ${this.question?this.questionDialog(this.question):c}
      ${this.secret?this.secretDialog(this.secret):c}
    `}questionDialog({title:t,text:e,verb:i,typed:s,run:n}){return l`<dialog aria-labelledby="question" @close=${()=>this.closeDialog()}>
<form @submit=${async a=>{a.preventDefault(),this.closeDialog(),await this.change(n,`${t}: done.`)}}>
<h3 id="question">${t}</h3>
<p>${e}</p>
${s?l`<label>To confirm, type ${s}
              <input autocomplete="off" spellcheck="false" @input=${a=>this.typed=a.target.value} /></label>`:c}
        <footer>
          <button type="button" @click=${()=>this.closeDialog()}>Cancel</button>
          <button class="danger" ?disabled=${s!==void 0&&this.typed!==s}>${i}</button>
        </footer>
      </form>
    </dialog>`}secretDialog({title:t,value:e}){return l`<dialog aria-labelledby="secret" @close=${()=>this.closeDialog()}>
<h3 id="secret">${t}</h3>
<p>It is shown only now. The server cannot show it again.</p>
<pre tabindex="0">${e}</pre>
<footer>
<button @click=${async()=>{await navigator.clipboard.writeText(e).catch(()=>{}),this.notice="Copied."}}>Copy</button>
<button class="primary" @click=${()=>this.closeDialog()}>I have stored it</button>
</footer>
</dialog>`}table(t,e,i){return e.length===0?l`<div class="empty">${i}</div>`:l`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
<table>
<thead><tr>${t.map(s=>l`<th scope="col">${s||l`<span class="visually-hidden">Actions</span>`}</th>`)}</tr></thead>
        <tbody>${e}</tbody>
      </table>
    </div>`}masterOnly(){return this.session.isMaster?c:l`<p class="notice">Changes need a master key. You are signed in with a project key.</p>`}};var qs=["threshold","window_seconds","cooldown_seconds"],qe=class extends y{constructor(){super();this.heading="Alert rules";this.text="A rule counts events whose action matches its pattern, by actor or by tenant, and raises an alert at its threshold. Of a built-in rule only the switch and the cooldown change.";this.rules=[],this.draft={}}static{this.properties={rules:{state:!0},preview:{state:!0},draft:{state:!0}}}async load(){this.rules=(await this.session.api.get("/alerts/rules")).rules}amend(e,i){this.change(()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,i),`${e.name}: changed.`)}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"The rule stops at once. Alerts that it has raised stay. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/alerts/rules/${e.id}`)})}async show(e,i){this.preview=void 0,await this.attempt(async()=>{this.preview={name:i,result:await Oi(this.session.api,e)}})}async onSubmit(e){let i=x(e);for(let u of qs)u in i&&(i[u]=Number(i[u]));if(e.submitter?.value==="preview")return this.show(i,"this rule");let{id:n,type:o}=this.draft,a=o==="builtin"?{cooldown_seconds:i.cooldown_seconds}:i,{api:d}=this.session,h=()=>n?d.send("PATCH",`/alerts/rules/${n}`,a):d.send("POST","/alerts/rules",a);await this.change(h,`${String(i.name)}: stored.`)&&(this.draft={})}content(){let{isMaster:e}=this.session,i=this.rules.map(s=>l`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${n=>this.amend(s,{enabled:n.target.checked})} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?l`<span class="badge">built-in</span>`:c}</th>
      <td><code>${s.action_pattern}</code></td>
      <td>${s.threshold} in ${s.window_seconds} s by ${s.group_by==="tenant_id"?"tenant":"actor"}</td>
      <td><span class="badge ${s.severity}">${s.severity}</span></td>
      <td>${s.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${()=>this.show(s,s.name)}>Preview</button>
        ${e?l`<button @click=${()=>this.draft=s}>Edit</button>`:c}
        ${e&&s.type==="custom"?l`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:c}
      </td>
    </tr>`);return l`${this.masterOnly()} ${this.table(["On","Rule","Action","Fires at","Severity","Cooldown",""],i,"No rules.")}
${this.preview?this.previewOf(this.preview.name,this.preview.result):c} ${e?this.form():c}`}previewOf(e,{lookedAt:i,matching:s,alerts:n}){let o=n.slice(0,20).map(a=>l`<tr><td>${a.group}</td><td>${a.count}</td><td>${k(a.at)}</td></tr>`);return l`<h3>Preview of ${e}</h3>
<p>Among the newest ${i} events with this action (at most ${2e3}), ${s} match. The rule would have raised <b>${n.length}</b> alerts. The preview counts by the time of the events; the server also leaves out events that arrive later than the window.</p>
${this.table(["Actor or tenant","Events","Time"],o,"It would have raised no alert.")}`}form(){let{draft:e}=this,i=e.type==="builtin",s=(o,a,d,h,u={})=>l`<label>
${a}<input name=${o} type=${d} required ?disabled=${i&&o!=="cooldown_seconds"} min=${u.min??c} max=${u.max??c} .value=${String(e[o]??h)} />
</label>`,n=(o,a,d)=>l`<label>
${a}<select name=${o} ?disabled=${i}>${d.map(h=>l`<option .selected=${e[o]===h}>${h}</option>`)}</select>
    </label>`;return l`<h3>${e.id?`Edit ${e.name??""}`:"New rule"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${s("name","Name","text","")} ${s("action_pattern","Action pattern","text","*.deleted")}
        ${s("threshold","Threshold","number",5,{min:1,max:1e4})} ${s("window_seconds","Window, seconds","number",300,{min:60,max:3600})}
        ${n("group_by","Count by",["actor_id","tenant_id"])} ${n("severity","Severity",["low","medium","high","critical"])}
        ${s("cooldown_seconds","Cooldown, seconds","number",3600,{min:0,max:604800})}
        <button class="primary" value="store">${e.id?"Store changes":"Create rule"}</button>
        ${i?c:l`<button value="preview">Preview</button>`}
        ${e.id?l`<button type="button" class="plain" @click=${()=>this.draft={}}>Cancel</button>`:c}
      </form>`}};var Je=class extends y{constructor(){super();this.cursor=null;this.heading="Alerts";this.text="Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";this.status="open",this.severity="",this.alerts=[]}static{this.properties={status:{state:!0},severity:{state:!0},alerts:{state:!0}}}read(e){return this.session.api.get("/alerts",{status:this.status,severity:this.severity,cursor:e})}async load(){let e=await this.read();this.alerts=e.alerts,this.cursor=e.cursor}async more(){await this.attempt(async()=>{let e=await this.read(this.cursor??void 0);this.alerts=[...this.alerts,...e.alerts],this.cursor=e.cursor})}set(e,i){this.change(()=>this.session.api.send("PATCH",`/alerts/${e.id}`,{status:i}),`${e.rule_name}: ${i}.`)}select(e,i,s,n){return l`<label>${e}<select @change=${a=>{n(a.target.value),this.reload()}}>
<option value="" .selected=${i===""}>all</option>
${s.map(a=>l`<option .selected=${a===i}>${a}</option>`)}
    </select></label>`}content(){let e=this.alerts.map(i=>l`<tr>
<td><span class="badge ${i.severity}">${i.severity}</span></td>
<th scope="row">${i.rule_name}</th>
<td>${i.group_key}</td>
<td>${i.event_count}: ${i.sample_event_ids.slice(0,3).map((s,n)=>l`<a href="#/events?event=${s}">event ${n+1}</a> `)}</td>
      <td>${k(i.fired_at)}</td>
      <td><span class="badge ${i.status}">${i.status}</span></td>
      <td class="actions">
        ${i.status==="open"?l`<button @click=${()=>this.set(i,"acknowledged")}>Acknowledge</button>`:c}
        ${i.status!=="resolved"?l`<button @click=${()=>this.set(i,"resolved")}>Resolve</button>`:c}
      </td>
    </tr>`);return l`
<div class="bar">
${this.select("Status",this.status,["open","acknowledged","resolved"],i=>this.status=i)}
${this.select("Severity",this.severity,["critical","high","medium","low"],i=>this.severity=i)}
</div>
${this.table(["Severity","Rule","Actor or tenant","Events","Fired","Status",""],e,"No alerts with this status.")}
${this.cursor?l`<p><button @click=${()=>this.more()}>Show older alerts</button></p>`:c}
    `}};var Js=["events:write","events:read","alerts","viewer-tokens","admin"],Ws=86400,We=class extends y{constructor(){super();this.heading="Projects and keys";this.text="A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";this.keys=[],this.masters=[],this.isRevokedShown=!1}static{this.properties={keys:{state:!0},masters:{state:!0},isRevokedShown:{state:!0}}}async load(){let{api:e,isMaster:i}=this.session;this.keys=(await e.get("/keys")).keys,i&&(this.masters=(await e.get("/master-keys")).master_keys)}revoke(e,i){this.ask({title:`Revoke the key “${e.name}”`,verb:"Revoke",typed:e.name,text:`Every request with ${e.prefix}… is refused from now on. This cannot be undone. Last used: ${e.lastUsedAt??"never"}.`,run:()=>this.session.api.send("DELETE",`${i}/${e.id}`)})}rotate(e,i){this.ask({title:`Replace the key “${e.name}”`,verb:"Replace",text:"A new key with the same limits is created. The old one ends in 24 hours.",run:async()=>{let{key:s}=await this.session.api.send("POST",`${i}/${e.id}/rotate`,void 0,{overlap:Ws});this.reveal(`The key that replaces “${e.name}”`,s)}})}async create(e,i){let s=e.target,{networks:n,expires_at:o,...a}=x(e),d=new FormData(s).getAll("scopes"),{scopes:h,...u}=a,p={...u,...i==="/keys"?{type:"project",project_id:this.session.project?.id}:{},...d.length>0?{scopes:d}:{},...n?{networks:G(n)}:{},...o?{expires_at:new Date(o).toISOString()}:{}},f=async()=>{let{key:m}=await this.session.api.send("POST",i,p);this.reveal(`The key “${a.name??""}”`,m)};await this.change(f)&&s.reset()}async createProject(e){let i=e.target,s=x(e),n=async()=>{let{project:o}=await this.session.api.send("POST","/projects",s);this.dispatchEvent(new CustomEvent("project-created",{detail:o,bubbles:!0,composed:!0}))};await this.attempt(n,`Project ${s.name??""} created. It has no keys yet.`)&&i.reset()}rows(e,i){return e.filter(n=>this.isRevokedShown||!n.revokedAt).map(n=>l`<tr>
<th scope="row">${n.name}</th>
<td><code>${n.prefix}…</code></td>
<td>${n.environment??"all projects"}</td>
<td>${n.scopes?.join(", ")??"everything"}${n.networks?l`<br /><span class="muted">from ${n.networks.join(", ")}</span>`:c}</td>
      <td>${k(n.lastUsedAt)}${n.lastUsedFrom?l`<br /><span class="muted">${n.lastUsedFrom}</span>`:c}</td>
      <td>${n.revokedAt?l`<span class="badge failed">revoked</span>`:n.expiresAt?l`until ${k(n.expiresAt)}`:"no end"}</td>
      <td class="actions">
        ${n.revokedAt?c:l`
${this.session.isMaster?l`<button @click=${()=>this.rotate(n,i)}>Replace</button>`:c}
          <button class="danger" @click=${()=>this.revoke(n,i)}>Revoke</button>`}
      </td>
    </tr>`)}content(){let e=["Name","Key","Environment","May","Last used","Ends",""],{isMaster:i,project:s,projects:n}=this.session,o=this.keys.filter(a=>!s||a.project_id===s.id);return l`
<label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${()=>this.isRevokedShown=!this.isRevokedShown} /> Show revoked keys</label>
<h3>Keys of the project ${s?.name??""}</h3>
${this.table(e,this.rows(o,"/keys"),"No keys.")}
${i?this.form("/keys","Create project key"):this.masterOnly()}
${i?l`<h3>Projects</h3>
            ${this.table(["Name","ID","Created"],n.map(({id:a,name:d,created_at:h})=>l`<tr><th scope="row">${d}</th><td><code>${a}</code></td><td>${k(h)}</td></tr>`),"No projects.")}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">New project: name<input name="name" required maxlength="100" /></label><button class="primary">Create project</button>
            </form>
            <h3>Master keys</h3>
            <p class="muted">A master key administers every project of the organization.</p>
            ${this.table(e,this.rows(this.masters,"/master-keys"),"No master keys.")} ${this.form("/master-keys","Create master key")}`:c}
    `}form(e,i){return l`<form class="inline" @submit=${s=>this.create(s,e)}>
<label>Name<input name="name" required maxlength="100" /></label>
${e==="/keys"?l`<label>Environment<select name="environment"><option>live</option><option>test</option></select></label>`:c}
      <label>Ends<input name="expires_at" type="datetime-local" /></label>
      <label>Networks<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${Js.map(s=>l`<label class="check"><input type="checkbox" name="scopes" value=${s} />${s}</label>`)}
      <button class="primary">${i}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`}};var Ke=class extends y{constructor(){super();this.note="";this.key="";this.rotations="";this.heading="The verifiable log";this.text="Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";this.checked={text:"",isGood:!1}}static{this.properties={checked:{state:!0},earlier:{state:!0}}}async load(){let{api:e}=this.session;this.earlier=void 0,[this.note,this.key,this.rotations]=await Promise.all([e.text("/log/checkpoint"),e.text("/log/key"),e.text("/log/key/rotations")]);try{this.checkpoint=await se(this.note,this.key),this.checked={text:"The signature was verified in this browser, with the key below.",isGood:!0}}catch(i){this.checkpoint=void 0,this.checked={text:`The signature was not verified: ${i instanceof Error?i.message:String(i)}`,isGood:!1}}}async compare(e){let{earlier:i="",key:s=""}=x(e);await this.attempt(async()=>{try{this.earlier=await this.continuity(`${i.trimEnd()}
`,s||this.key)}catch(n){this.earlier={text:n instanceof Error?n.message:String(n),isGood:!1}}})}async continuity(e,i){let s=await se(e,i),n=this.checkpoint;if(!n)return{text:"The present checkpoint is not verified.",isGood:!1};if(s.origin!==n.origin)return{text:`The checkpoint is one of another log: ${s.origin}`,isGood:!1};if(s.size>n.size)return{text:`The log had ${s.size} events and has ${n.size} now: events were removed.`,isGood:!1};let{consistency:o}=await this.session.api.get("/log/consistency",{from:s.size,to:n.size});return await bt({from:s,to:n,hashes:Me(o,"the consistency proof")}),{text:`The log continues this checkpoint: its ${s.size} events are unchanged, and ${n.size-s.size} were added.`,isGood:!0}}async evidence(){await this.attempt(async()=>{let i=await(await this.session.api.fetch("GET","/events/export")).blob();me(i,"events.jsonl"),me(new Blob([this.note],{type:"text/plain"}),"checkpoint.txt"),me(new Blob([this.key],{type:"text/plain"}),"key.txt")},"Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.")}content(){let{checkpoint:e,checked:i,earlier:s}=this,n=({text:o,isGood:a})=>l`<div class="notice ${a?"good":"bad"}" role=${a?"status":"alert"}>${a?"✓":"✗"} ${o}</div>`;return l`
${n(i)}
${e?l`<div class="cards">
            <div class="card"><b>${new Intl.NumberFormat().format(e.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${ue(e.root)}</code><br />Log <code>${e.origin}</code></p>`:c}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim()?l`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>`:c}
      <div class="bar"><button @click=${()=>this.reload()}>Read again</button><button @click=${()=>this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>Does the log continue an earlier checkpoint?</h3>
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoint<textarea name="earlier" rows="6" required spellcheck="false"></textarea></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
      ${s?n(s):c}
    `}};var _t=30,Tt=new Intl.NumberFormat,Ge=class extends y{constructor(){super(...arguments);this.heading="Overview";this.text=`The last ${_t} days of this project, and the state of the server.`;this.readiness="";this.gauges={};this.formats=new K(navigator.language,ne,!1)}static{this.properties={}}static{this.styles=[y.styles,b`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`]}async load(){let{api:e}=this.session,i=new Date(Date.now()-_t*864e5).toISOString(),[s,n,o,a,d]=await Promise.all([J(e.get("/events/summary",{start_date:i,interval:"day",split:"category"})),J(e.get("/alerts",{status:"open",limit:100})),J(e.text("/log/checkpoint")),fetch("/readyz",{cache:"no-store"}).then(u=>u.ok,()=>!1),fetch("/metrics",{cache:"no-store"}).then(u=>u.ok?u.text():"",()=>"")]);this.summary=s,this.openAlerts=n&&`${n.alerts.length}${n.has_more?"+":""}`,this.logSize=o===void 0?void 0:Number(o.split(`
`)[1]),this.readiness=a?"ready":"not ready";let h=u=>{let p=new RegExp(`^${u} (\\S+)$`,"m").exec(d)?.[1];return p===void 0?void 0:Number(p)};this.gauges={pendingDeliveries:h("audit_webhook_deliveries_pending"),queueDepth:h("audit_store_queue_depth"),toRebuild:h("audit_store_events_to_rebuild")}}card(e,i,s){if(i===void 0)return c;let n=s?l`<a href=${s}>${e}</a>`:l`<span class="muted">${e}</span>`;return l`<div class="card"><b>${typeof i=="number"?Tt.format(i):i}</b>${n}</div>`}content(){let{summary:e,gauges:i}=this,s=P.map(n=>[n,e?.buckets.reduce((o,a)=>o+(a.categories?.[n]??0),0)??0]);return l`
<div class="cards">
${this.card(`events in ${_t} days`,e?.total,"#/events")} ${this.card("events in the log",this.logSize,"#/log")}
        ${this.card("open alerts",this.openAlerts,"#/alerts")} ${this.card("server",this.readiness)}
        ${this.card("deliveries pending, all projects",i.pendingDeliveries,"#/webhooks")}
        ${this.card("requests in the write queue",i.queueDepth)} ${this.card("events to index again",i.toRebuild)}
      </div>
      ${e?l`<h3>Events per day</h3>
<div class="chart"><audit-log-histogram .summary=${e} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
<h3>By category</h3>
<div class="cards">${s.map(([n,o])=>this.card(ne.categories[n]??n,o,`#/events?category=${n}`))}</div>
            ${this.top("Most frequent actions","action",e)} ${this.top("Most active actors","actor_id",e)}
            ${this.top("Tenants","tenant_id",e)}`:c}
    `}onZoom(e){location.hash=`#/events?${new URLSearchParams({start_date:e.detail.start,end_date:e.detail.end})}`}top(e,i,{top:s}){let n=(s[i]??[]).slice(0,8).map(({value:o,count:a})=>l`<tr><td><a href="#/events?${new URLSearchParams({[i]:o})}">${o}</a></td><td>${Tt.format(a)}</td></tr>`);return l`<h3>${e}</h3><p class="muted">Among the newest ${Tt.format(s.looked_at)} events.</p>${this.table(["Value","Events"],n,"None.")}`}};var Fi=["replace","hash","mask"],Ks=300,Gs={action:"user.created",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe",email:"jane@example.com"},metadata:{note:"paid with 4111 1111 1111 1111, call +1 415 555 0132",header:"Bearer abcdef123456",ok:"fine"}},Ze=class extends y{constructor(){super();this.event=M(Gs);this.heading="Redaction";this.text="Rules remove personal data and secrets before an event is stored. A change applies to the next request; stored events do not change.";this.rules=[],this.fault="",this.type="pattern"}static{this.properties={rules:{state:!0},tested:{state:!0},fault:{state:!0},type:{state:!0}}}async load(){this.rules=(await this.session.api.get("/redaction/rules")).rules,await this.test()}onInput(e){this.event=e.target.value,clearTimeout(this.typing),this.typing=setTimeout(()=>{this.test()},Ks)}async test(){let e;try{e=JSON.parse(this.event)}catch(i){this.fault=i instanceof Error?i.message:"not JSON";return}this.fault="",await this.attempt(async()=>{this.tested=await this.session.api.send("POST","/redaction/test",{event:e})})}amend(e,i){this.change(()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,i),`${e.name}: changed.`)}toggle(e,i){if(i.checked)return this.amend(e,{enabled:!0});i.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:"From the next request on, what this rule finds is stored as it was sent, and it cannot be removed from the log later.",run:()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"From the next request on, what this rule finds is stored as it was sent. The rule cannot be restored.",run:()=>this.session.api.send("DELETE",`/redaction/rules/${e.id}`)})}async onSubmit(e){let i=e.target,{fields:s,...n}=x(e),o=n.type==="field_redact"?{...n,fields:G(s)}:n;await this.change(()=>this.session.api.send("POST","/redaction/rules",o),`${n.name??""}: created.`)&&i.reset()}content(){let{isMaster:e}=this.session,i=this.rules.map(s=>l`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${n=>this.toggle(s,n.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?l`<span class="badge">built-in</span>`:c}</th>
      <td><code>${s.pattern??s.fields?.join(", ")??""}</code></td>
      <td><select aria-label="Behavior of ${s.name}" ?disabled=${!e} @change=${n=>this.amend(s,{behavior:n.target.value})}>
        ${Fi.map(n=>l`<option .selected=${n===s.behavior}>${n}</option>`)}</select></td>
      <td class="actions">${e&&s.type!=="builtin"?l`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:c}</td>
    </tr>`);return l`${this.masterOnly()} ${this.tester()}
<h3>Rules</h3>${this.table(["On","Rule","Finds","Behavior",""],i,"No rules.")} ${e?this.form():c}`}tester(){let{tested:e}=this;return l`<h3>Try an event</h3>
<div class="columns">
<label>Event (nothing is stored)<textarea rows="14" spellcheck="false" maxlength="65536" .value=${this.event} @input=${this.onInput}></textarea></label>
<div>
<span class="muted">What the rules change: <mark>removed</mark> → <mark class="after">stored</mark></span>
${this.fault?l`<p class="notice bad">${this.fault}</p>`:c}
          ${e?.metadata.was_redacted?l`<div class="scroll"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Sent</th><th scope="col">Stored</th></tr></thead>
<tbody>${Di(e.original,e.redacted).map(([i,s,n])=>l`<tr><th scope="row"><code>${i}</code></th><td>${Ni(s,n,"removed")}</td><td>${Ni(n,s,"after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${e.metadata.redacted_rules.join(", ")} · ${e.metadata.rules_evaluated} rules</p>`:e?l`<p>Nothing is removed from this event.</p>`:c}
        </div>
      </div>`}form(){return l`<h3>New rule</h3>
<form class="inline" @submit=${this.onSubmit}>
<label>Type<select name="type" @change=${e=>this.type=e.target.value}>
<option value="pattern">pattern</option><option value="field_redact">fields</option></select></label>
<label>Name<input name="name" required maxlength="100" /></label>
${this.type==="pattern"?l`<label class="wide">Pattern (regular expression)<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`:l`<label class="wide">Paths, separated by commas<input name="fields" required placeholder="metadata.*.ssn, actor.email" spellcheck="false" /></label>`}
        <label>Behavior<select name="behavior">${Fi.map(e=>l`<option>${e}</option>`)}</select></label>
        <button class="primary">Create rule</button>
      </form>`}};function Di(r,t,e=""){let i=n=>typeof n=="object"&&n!==null&&!Array.isArray(n);return!i(r)||!i(t)?[[e,Mi(r),Mi(t)]]:[...new Set([...Object.keys(r),...Object.keys(t)])].flatMap(n=>Di(r[n],t[n],e?`${e}.${n}`:n))}function Mi(r){return r===void 0?"":typeof r=="string"?r:M(r)}function Ni(r,t,e){let i=0;for(;i<r.length&&r[i]===t[i];)i+=1;let s=0;for(;s<r.length-i&&s<t.length-i&&r.at(-1-s)===t.at(-1-s);)s+=1;let n=r.slice(i,r.length-s);return l`${r.slice(0,i)}${n?l`<mark class=${e}>${n}</mark>`:c}${r.slice(r.length-s)}`}var Xe=class extends y{constructor(){super(...arguments);this.heading="Streams";this.text="A client without an account sends events to a stream, which its token names. A claim moves them into this project."}static{this.properties={info:{state:!0},token:{state:!0}}}load(){return Promise.resolve()}async look(e){this.token=x(e).token??"",this.info=void 0,await this.attempt(async()=>{this.info=await this.session.api.get(`/streams/${encodeURIComponent(this.token)}/info`)})}claim(){let{token:e}=this;this.ask({title:"Claim the stream",verb:"Claim",text:`Its ${this.info?.event_count??0} events move into the project ${this.session.project?.name??""}, redacted by its rules. The token can never be used again.`,run:async()=>{await this.session.api.send("POST","/streams/claim",{claim_token:e}),this.info=void 0}})}content(){if(!this.session.isMaster)return l`<p class="notice">Claiming needs a master key.</p>`;let{info:e}=this;return l`<form class="inline" @submit=${this.look}>
<label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
<button class="primary">Look up</button>
</form>
${e?l`<p>${e.event_count} events, ${e.status}, created ${k(e.created_at)}, ends ${k(e.expires_at)}</p>
            <button class="primary" ?disabled=${e.status!=="active"} @click=${()=>this.claim()}>Claim into this project</button>`:""}`}};var ji=["event","feed","export","proofs"],Zs=600,Ye=class extends y{constructor(){super();this.heading="Viewer tiers";this.text="A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";this.tiers=[]}static{this.properties={tiers:{state:!0},draft:{state:!0},seen:{state:!0}}}async load(){this.session.isMaster&&(this.tiers=(await this.session.api.get("/viewer-tiers")).viewer_tiers)}async onSubmit(e){let i=e.target,s=x(e),n=new FormData(i),o=(f,m)=>n.getAll(f).length===m.length?null:n.getAll(f),a=G(s.actions),d={categories:o("categories",P),actions:a.length>0?a:null,hidden_fields:G(s.hidden_fields),...n.getAll("routes").length===ji.length?{}:{routes:n.getAll("routes")}},{api:h}=this.session,{draft:u}=this,p=()=>u?h.send("PATCH",`/viewer-tiers/${u.name}`,d):h.send("POST","/viewer-tiers",{name:s.name,...d});await this.change(p,"The tier was stored.")&&(this.draft=void 0)}confirmRemoval(e){this.ask({title:`Delete the tier “${e.name}”`,verb:"Delete",typed:e.name,text:"All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/viewer-tiers/${e.name}`)})}async see(e){let{tenant_id:i="",tier:s=""}=x(e);await this.attempt(async()=>{let n={tenant_id:i,...s?{tier:s}:{},expires_in:Zs},{token:o}=await this.session.api.send("POST","/viewer-tokens",n);this.seen={token:o,tenant:i,tier:s||"standard"}})}content(){return l`${this.session.isMaster?this.administration():this.lookAs()}`}lookAs(){return l`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
<form class="inline" @submit=${this.see}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">See as this tenant</button>
</form>
${this.seen?l`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`:c}`}administration(){let e=(s,n)=>s===null?n:s.length>0?s.join(", "):"none",i=this.tiers.map(s=>l`<tr>
<th scope="row">${s.name}</th><td>${e(s.categories,"all")}</td><td>${e(s.actions,"all")}</td>
<td>${e(s.hidden_fields,"")}</td><td>${e(s.routes,"all")}</td>
<td class="actions"><button @click=${()=>this.draft=s}>Edit</button> <button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button></td>
</tr>`);return l`${this.table(["Tier","Categories","Actions","Hidden fields","Reads",""],i,"No tiers.")} ${this.form()}
<p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`}form(){let{draft:e}=this,i=(s,n)=>n.map(o=>l`<label class="check"><input type="checkbox" name=${s} value=${o} .checked=${e?.[s]?.includes(o)??!0} />${o}</label>`);return l`<h3>${e?`Edit ${e.name}`:"New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${e?c:l`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${e?.hidden_fields.join(", ")??""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${e?.actions?.join(", ")??""} placeholder="auth.*, document.*" /></label>
        ${i("categories",P)} <span class="muted">reads</span> ${i("routes",ji)}
        <button class="primary">${e?"Store changes":"Create tier"}</button>
        ${e?l`<button type="button" class="plain" @click=${()=>this.draft=void 0}>Cancel</button>`:c}
      </form>`}};var Qe=class extends y{constructor(){super();this.cursor=null;this.heading="Webhooks";this.text="Each live alert is sent to every enabled webhook as a signed message, with retries.";this.webhooks=[],this.deliveries=[]}static{this.properties={webhooks:{state:!0},opened:{state:!0},deliveries:{state:!0}}}async load(){this.session.isMaster&&(this.webhooks=(await this.session.api.get("/alerts/webhooks")).webhooks,this.opened=this.webhooks.find(({id:e})=>e===this.opened?.id),this.opened&&await this.readDeliveries(this.opened))}async readDeliveries(e,i){let s=await this.session.api.get(`/alerts/webhooks/${e.id}/deliveries`,{cursor:i});this.deliveries=i?[...this.deliveries,...s.deliveries]:s.deliveries,this.cursor=s.cursor,this.opened=e}async onSubmit(e){let i=e.target,s=x(e),n=async()=>{let{webhook:o}=await this.session.api.send("POST","/alerts/webhooks",s);this.reveal("Secret of the new webhook",o.secret)};await this.change(n,"The webhook was created.")&&i.reset()}rotate(e){this.ask({title:"Rotate the secret",verb:"Rotate",text:`A new secret signs messages to ${e.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,run:async()=>{let i=await this.session.api.send("POST",`/alerts/webhooks/${e.id}/rotate-secret`);this.reveal("New secret of the webhook",i.webhook.secret)}})}confirmRemoval(e){this.ask({title:"Delete the webhook",verb:"Delete",text:`Nothing more is sent to ${e.url}. Its deliveries, pending ones included, are deleted too.`,run:()=>this.session.api.send("DELETE",`/alerts/webhooks/${e.id}`)})}toggle(e){let{enabled:i}=e;this.change(()=>this.session.api.send("PATCH",`/alerts/webhooks/${e.id}`,{enabled:!i}),i?"Disabled. Pending deliveries wait.":"Enabled.")}test(e){this.change(async()=>{await this.session.api.send("POST",`/alerts/webhooks/${e.id}/test`),this.opened=e},"A test message is queued. Refresh the deliveries to see its result.")}content(){if(!this.session.isMaster)return l`<p class="notice">Webhooks need a master key.</p>`;let e=this.webhooks.map(i=>l`<tr>
<td><span class="badge ${i.enabled?"on":""}">${i.enabled?"enabled":"disabled"}</span></td>
<th scope="row">${i.url}</th>
<td>${k(i.created_at)}</td>
<td class="actions">
<button @click=${()=>this.attempt(()=>this.readDeliveries(i))}>Deliveries</button>
<button ?disabled=${!i.enabled} @click=${()=>this.test(i)}>Test</button>
<button @click=${()=>this.toggle(i)}>${i.enabled?"Disable":"Enable"}</button>
<button @click=${()=>this.rotate(i)}>Rotate secret</button>
<button class="danger" @click=${()=>this.confirmRemoval(i)}>Delete</button>
</td>
</tr>`);return l`${this.table(["State","URL","Created",""],e,"No webhooks yet.")}
<form class="inline" @submit=${this.onSubmit}>
<label class="wide">New webhook: URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
<button class="primary">Create webhook</button>
</form>
${this.opened?this.deliveryTable(this.opened):c}`}deliveryTable(e){let i=o=>{this.change(()=>this.session.api.send("POST",`/alerts/deliveries/${o.id}/retry`),"An attempt is made now.")},s=({number:o,status_code:a,error:d,duration_ms:h,started_at:u})=>l`<div title=${u}>${o}. ${a??d??"–"} <span class="muted">${h} ms</span></div>`,n=this.deliveries.map(o=>l`<tr>
<td><span class="badge ${o.status}">${o.status}</span></td>
<th scope="row">${o.type}</th>
<td>${k(o.created_at)}</td>
<td>${o.attempts.length>0?o.attempts.map(s):"none yet"}</td>
<td>${k(o.next_attempt_at)}</td>
<td class="actions"><button @click=${()=>i(o)}>Retry</button></td>
</tr>`);return l`<h3>Deliveries to ${e.url}</h3>
<div class="bar"><button @click=${()=>this.attempt(()=>this.readDeliveries(e))}>Refresh</button></div>
${this.table(["Status","Message","Created","Attempts","Next attempt",""],n,"Nothing was sent yet.")}
${this.cursor?l`<p><button @click=${()=>this.attempt(()=>this.readDeliveries(e,this.cursor??void 0))}>Show older deliveries</button></p>`:c}`}};var fe=class r{constructor(t,e,i,s,n){this.key=t;this.projects=e;this.project=i;this.environment=s;this.onEnded=n;this.api=new N({baseUrl:"",credential:t,projectId:i?.id,environment:s})}get isMaster(){return this.key.startsWith("mk_")}with(t){let{projects:e,project:i,environment:s}={...this,...t};return new r(this.key,e,i,s,this.onEnded)}};var et=[{path:"overview",label:"Overview",content:r=>l`<console-overview .session=${r}></console-overview>`},{path:"events",label:"Events",content:Xs},{path:"alerts",label:"Alerts",content:r=>l`<console-alerts .session=${r}></console-alerts>`},{path:"rules",label:"Alert rules",content:r=>l`<console-rules .session=${r}></console-rules>`},{path:"webhooks",label:"Webhooks",content:r=>l`<console-webhooks .session=${r}></console-webhooks>`},{path:"redaction",label:"Redaction",content:r=>l`<console-redaction .session=${r}></console-redaction>`},{path:"tiers",label:"Viewer tiers",content:r=>l`<console-tiers .session=${r}></console-tiers>`},{path:"keys",label:"Projects and keys",content:r=>l`<console-keys .session=${r}></console-keys>`},{path:"streams",label:"Streams",content:r=>l`<console-streams .session=${r}></console-streams>`},{path:"log",label:"Verifiable log",content:r=>l`<console-log .session=${r}></console-log>`}];function Xs(r){let[,t=""]=location.hash.split("?"),{filter:e,event:i}=Y(t),{key:s,project:n,environment:o}=r;return l`<audit-log-viewer lang="en" .token=${s} .projectId=${n?.id} .environment=${o} .filter=${Ys(e)} .wanted=${i}></audit-log-viewer>`}var At={};function Ys(r){return JSON.stringify(r)!==JSON.stringify(At)&&(At=r),At}var Et=class extends w{static{this.properties={session:{state:!0},failure:{state:!0},path:{state:!0},isBusy:{state:!0}}}static{this.styles=[T,Ee,b`
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
`]}constructor(){super(),this.path=this.pathOfHash(),this.isBusy=!1,addEventListener("hashchange",()=>{this.path=this.pathOfHash(),this.requestUpdate()})}pathOfHash(){let t=location.hash.replace(/^#\//,"").split("?")[0]??"";return et.some(e=>e.path===t)?t:"overview"}async signIn(t){t.preventDefault();let e=t.target.elements.namedItem("key"),i=e.value.trim();e.value="",this.isBusy=!0,this.failure=void 0;try{this.session=await this.open(i)}catch(s){this.failure=$(s)}finally{this.isBusy=!1}}async open(t){let e=new N({baseUrl:"",credential:t}),i=n=>{this.session=void 0,this.failure=n};if(!t.startsWith("mk_")){let o=(await J(e.get("/keys")))?.keys[0]?.project_id,a=o===void 0?void 0:{id:o,name:"",created_at:""};return new fe(t,[],a,t.startsWith("pk_test_")?"test":"live",i)}let s=(await J(e.get("/projects")))?.projects??[];return new fe(t,s,s[0],"live",i)}onProject(t){let e=t.target.value;this.session=this.session?.with({project:this.session.projects.find(i=>i.id===e)})}onCreated(t){let{session:e}=this;e&&(this.session=e.with({projects:[...e.projects,t.detail],project:t.detail}))}render(){return this.session?this.workspace(this.session):this.signInForm()}signInForm(){let{failure:t}=this;return l`<form class="sign-in" @submit=${this.signIn}>
<h1>Audit log console</h1>
<p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
${t?l`<p class="notice bad" role="alert">${t.message}</p>`:c}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy?"Signing in …":"Sign in"}</button>
    </form>`}workspace(t){let e=et.find(({path:a})=>a===this.path)??et[0];document.title=`${e?.label??""} · Audit log`;let{isMaster:i,projects:s,project:n,environment:o}=t;return l`
<header class="bar">
<h1><a href="#/overview">Audit log</a></h1>
${o==="test"?l`<span class="test">test environment</span>`:c}
        ${i?l`<select aria-label="Project" @change=${this.onProject}>${s.map(({id:a,name:d})=>l`<option value=${a} .selected=${a===n?.id}>${d}</option>`)}</select>
              <select aria-label="Environment" @change=${a=>this.session=t.with({environment:a.target.value})}>
                ${["live","test"].map(a=>l`<option .selected=${a===o}>${a}</option>`)}
              </select>`:l`<span class="muted">project key</span>`}
        <button @click=${()=>this.session=void 0}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${et.map(({path:a,label:d})=>l`<a href="#/${a}" aria-current=${a===e?.path?"page":c}>${d}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated}>${e?.content(t)}</div>
      </div>
    `}};Ci();var Qs=[["console-overview",Ge],["console-alerts",Je],["console-rules",qe],["console-webhooks",Qe],["console-redaction",Ze],["console-tiers",Ye],["console-keys",We],["console-streams",Xe],["console-log",Ke],["console-page",Et]];for(let[r,t]of Qs)customElements.define(r,t);document.querySelector("#app")?.append(document.createElement("console-page"));
/*! Bundled license information:

@lit/reactive-element/css-tag.js:
  (**
   * @license
   * Copyright 2019 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/reactive-element.js:
lit-html/lit-html.js:
lit-element/lit-element.js:
lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/is-server.js:
  (**
   * @license
   * Copyright 2022 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
