// SPDX-License-Identifier: MIT-0
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Gives a running service more carriers: {@code java Carriers.java PID 8}. */
class Carriers {
    public static void main(String[] args) throws Exception {
        int carriers = Integer.parseInt(args[1]);
        String address = VirtualMachine.attach(args[0]).startLocalManagementAgent();
        try (var jmx = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            give(jmx.getMBeanServerConnection(), carriers);
        }
    }

    /**
     * The scheduler starts or wakes a carrier only if it's to have more than it has threads.
     * Once it has added some, as for DNS, these idle, and it has enough; so ask for one more.
     */
    static void give(MBeanServerConnection jvm, int carriers) throws IOException, JMException {
        var scheduler = new ObjectName("jdk.management:type=VirtualThreadScheduler");
        int now = (Integer) jvm.getAttribute(scheduler, "Parallelism");
        int threads = (Integer) jvm.getAttribute(scheduler, "PoolSize");
        if (now < carriers && carriers <= threads)
            jvm.setAttribute(scheduler, new Attribute("Parallelism", threads + 1));
        jvm.setAttribute(scheduler, new Attribute("Parallelism", carriers));
    }
}
